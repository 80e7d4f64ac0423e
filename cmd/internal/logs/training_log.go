// Package logs holds the commands that read training logs, of this program or of Caffe: parse_log makes tables, plot_log draws
// curves. Both read a log, or the events of train's -log_json, into a trainingLog.
package logs

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// trainingLog holds the values in the log of a training run.
type trainingLog struct {
	train, test outputTable
	rates       []logPoint // from lines "Iteration N, lr = X"
	losses      []logPoint // from lines "Iteration N, loss = X"
}

// logPoint is a value and the time at which it was printed. Seconds count from the line "Solving ...". In the log of a run in
// virtual time, they are virtual seconds.
type logPoint struct {
	iteration      int
	seconds, value float64
}

// outputTable holds the outputs of a net: one row for each time they were printed.
type outputTable struct {
	names  []string        // in order of appearance
	losses map[string]bool // the outputs that count in the loss
	rows   []*outputRow
}

// outputRow holds a net's outputs at an iteration. An output with several values keeps the last one, as in Caffe's parser.
type outputRow struct {
	iteration int
	net       int // the number of the test net
	seconds   float64
	rate      float64 // the learning rate printed last, or the first one; NaN if there is none
	values    map[string]float64
	last      int // number of the output read last
}

// glog's time stamp has a date of four digits; since version 0.6 it has eight, with the year. Before it may be what a launcher or a collector of logs
// begins lines with, as "0: " of srun -l and "[1,0]<stderr>:" of mpirun --tag-output.
var (
	stampPattern  = pattern(`(?:^|[\s:>|\]])[IWEF](\d{4})?(\d{4}) (\d\d:\d\d:\d\d\.\d{6})`)
	numberPattern = `([-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|nan|inf))`
	iterationLine = pattern(`Iteration (\d+)`)
	rateLine      = pattern(`Iteration \d+, lr = ` + numberPattern)
	lossLine      = pattern(`Iteration \d+(?: \([^)]*\))?, loss = ` + numberPattern)
	testLine      = pattern(`Testing net \(#(\d+)\)`)
	simulatedLine = pattern(`Simulated time: ` + numberPattern)
	outputLine    = pattern(`(Train|Test) net output #(\d+): (\S+) = ` + numberPattern + `(.*)`)
)

// pattern returns a regular expression that its first use compiles. Other commands do not read logs.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// readTrainingLog reads a log, or the events of -log_json, from a file or from standard input. name is the file's name without its folder.
func readTrainingLog(path string) (l *trainingLog, name string, err error) {
	f, path, err := cli.OpenInput(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	in := bufio.NewReader(f)
	if first, _ := in.Peek(1); len(first) == 1 && first[0] == '{' {
		l, err = parseEvents(in)
	} else {
		l, err = parseTrainingLog(in, info.ModTime().Year())
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return l, filepath.Base(path), nil
}

// logClock turns time stamps into seconds since the start of the run. Stamps without a year belong to the given year, and to the
// next year after the month has decreased.
type logClock struct {
	year        int
	start, last time.Time
	started     bool
	simulated   float64 // NaN if time is real
}

// read reads the time of a line; ok is false for lines without a stamp, such as those of other programs.
func (c *logClock) read(line string) (ok bool) {
	m := stampPattern().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	year := c.year
	if m[1] != "" {
		year, _ = strconv.Atoi(m[1]) // four digits
	}
	parse := func() (time.Time, error) {
		return time.Parse("2006 0102 15:04:05.000000", fmt.Sprintf("%04d %s %s", year, m[2], m[3]))
	}
	t, err := parse()
	if err == nil && m[1] == "" && !c.last.IsZero() && t.Month() < c.last.Month() {
		c.year++
		year = c.year
		t, err = parse()
	}
	if err != nil {
		return false
	}
	if c.start.IsZero() {
		c.start = t
	}
	if !c.started && strings.Contains(line, "Solving") {
		c.start, c.started = t, true
	}
	c.last = t
	return true
}

func (c *logClock) seconds() float64 {
	if math.IsNaN(c.simulated) {
		return c.last.Sub(c.start).Seconds()
	}
	return c.simulated
}

// maxLogLine limits the length of a line. A training log has no longer ones.
const maxLogLine = 1 << 20

// parseTrainingLog reads a log. If its stamps have no year, they begin in year.
func parseTrainingLog(r io.Reader, year int) (*trainingLog, error) {
	l := &trainingLog{}
	clock := &logClock{year: year, simulated: math.NaN()}
	iteration, net, rate := -1, 0, math.NaN()
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLogLine)
	for in.Scan() {
		line := in.Text()
		if !clock.read(line) {
			continue
		}
		if m := simulatedLine().FindStringSubmatch(line); m != nil {
			clock.simulated = number(m[1])
		}
		if m := iterationLine().FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				continue
			}
			iteration = n
		}
		if iteration < 0 {
			continue
		}
		if m := testLine().FindStringSubmatch(line); m != nil {
			net, _ = strconv.Atoi(m[1])
		}
		point := logPoint{iteration: iteration, seconds: clock.seconds()}
		if m := rateLine().FindStringSubmatch(line); m != nil {
			rate = number(m[1])
			point.value = rate
			l.rates = append(l.rates, point)
		}
		if m := lossLine().FindStringSubmatch(line); m != nil {
			point.value = number(m[1])
			l.losses = append(l.losses, point)
		}
		if m := outputLine().FindStringSubmatch(line); m != nil {
			l.table(m[1]).add(point, net, rate, m)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if iteration < 0 {
		return nil, fmt.Errorf("not the log of a training run: it has no line like %q", "I1120 12:00:01.123456  1234 solver.cpp:218] Iteration 0, loss = 2.3")
	}
	l.train.fillRates(l.rates)
	l.test.fillRates(l.rates)
	return l, nil
}

func (l *trainingLog) table(phase string) *outputTable {
	if phase == "Train" {
		return &l.train
	}
	return &l.test
}

// add adds an output line of a net; m are the submatches of outputLine. An output whose number does not exceed the previous one starts a
// new row: of a later iteration, or of the next test net.
func (t *outputTable) add(at logPoint, net int, rate float64, m []string) {
	k, err := strconv.Atoi(m[2])
	if err != nil {
		return
	}
	var row *outputRow
	if n := len(t.rows); n > 0 && t.rows[n-1].iteration == at.iteration && t.rows[n-1].last < k {
		row = t.rows[n-1]
	} else {
		row = &outputRow{iteration: at.iteration, net: net, seconds: at.seconds, rate: rate, values: map[string]float64{}}
		t.rows = append(t.rows, row)
	}
	name := m[3]
	t.name(name, strings.Contains(m[5], "loss)"))
	row.last, row.values[name] = k, number(m[4])
}

// fillRates sets the first learning rate in the rows before it.
func (t *outputTable) fillRates(rates []logPoint) {
	for _, row := range t.rows {
		if math.IsNaN(row.rate) && len(rates) > 0 {
			row.rate = rates[0].value
		}
	}
}

// number parses a match of numberPattern. It rejects matches such as "1.2.3".
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}
