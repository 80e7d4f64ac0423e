package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	swproto "github.com/swcaffe/swcaffe/proto"
)

var parseLogCommand = command{
	name:    "parse_log",
	summary: "turn a training log into tables",
	args:    "LOGFILE OUTPUT_DIR [-delimiter ,]",
	example: "swcaffe parse_log train.log tables",
	words:   []string{"log", "out"},
	long: `Reads a log of swcaffe train, or of Caffe's, and writes OUTPUT_DIR/LOGFILE.train and OUTPUT_DIR/LOGFILE.test: a line for every
iteration displayed, or tested, with the columns NumIters, Seconds (since training began), LearningRate and the net's outputs.`,
	setup: func(fs *flag.FlagSet) func(*env) error {
		log := fs.String("log", "", "the `FILE` to read")
		out := fs.String("out", "", "the `FOLDER` to write to")
		delimiter := fs.String("delimiter", ",", "what separates columns: one character")
		return func(e *env) error { return parseLog(e, *log, *out, *delimiter) }
	},
}

// trainingLog is what a log says, row by row.
type trainingLog struct{ train, test logTable }

// logTable is one of a log's tables. Columns are the outputs in the order in which they first appear.
type logTable struct {
	columns []string
	rows    []logRow
}

type logRow struct {
	iteration int
	seconds   float64
	rate      string // as printed; empty until it is known
	values    map[string]string
}

func parseLog(e *env, path, out, delimiter string) error {
	if path == "" || out == "" {
		return errors.New("need two names: swcaffe parse_log LOGFILE OUTPUT_DIR")
	}
	if len([]rune(delimiter)) != 1 {
		return fmt.Errorf("-delimiter %q: one character is needed", delimiter)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	log, err := readLog(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(log.train.rows)+len(log.test.rows) == 0 {
		return fmt.Errorf("%s: there is no output of a net in it; is it the log of a training?", path)
	}
	for name, table := range map[string]*logTable{"train": &log.train, "test": &log.test} {
		file := filepath.Join(out, filepath.Base(path)+"."+name)
		write := func(f *os.File) error { return table.write(f, []rune(delimiter)[0]) }
		if err := swproto.WriteFileAtomic(file, write); err != nil {
			return err
		}
		e.log.Infof("Wrote %d rows to %s", len(table.rows), file)
	}
	return nil
}

var (
	logTime      = regexp.MustCompile(`^[IWEF](\d{4} \d\d:\d\d:\d\d\.\d{6})`)
	logIteration = regexp.MustCompile(`\] Iteration (\d+)`)
	logRate      = regexp.MustCompile(`\] Iteration \d+, lr = (\S+)`)
	logOutput    = regexp.MustCompile(`\]\s+(Train|Test) net output #\d+: (\S+) = (\S+)`)
)

// readLog reads the lines of a log. Time counts from the line that says "Solving", or else from the first line.
func readLog(r io.Reader) (*trainingLog, error) {
	log := &trainingLog{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var start, now time.Time
	iteration := -1
	for lines.Scan() {
		line := lines.Text()
		if m := logTime.FindStringSubmatch(line); m != nil {
			t, err := time.Parse("0102 15:04:05.000000", m[1])
			if err != nil {
				continue
			}
			if now = t; start.IsZero() || strings.Contains(line, "] Solving") {
				start = t
			}
		}
		if now.Before(start) {
			now = now.AddDate(1, 0, 0) // the year is not in the log
		}
		if m := logIteration.FindStringSubmatch(line); m != nil {
			iteration, _ = strconv.Atoi(m[1])
		}
		if m := logRate.FindStringSubmatch(line); m != nil {
			log.setRate(m[1])
		}
		if m := logOutput.FindStringSubmatch(line); m != nil && iteration >= 0 {
			table := &log.train
			if m[1] == "Test" {
				table = &log.test
			}
			table.add(iteration, now.Sub(start).Seconds(), m[2], m[3])
		}
	}
	return log, lines.Err()
}

// setRate gives the rows that have none the rate, which is printed behind them.
func (l *trainingLog) setRate(rate string) {
	for _, t := range []*logTable{&l.train, &l.test} {
		for i := len(t.rows) - 1; i >= 0 && t.rows[i].rate == ""; i-- {
			t.rows[i].rate = rate
		}
	}
}

// add puts a value into the row of an iteration. An output that comes twice, a vector's, keeps its first value.
func (t *logTable) add(iteration int, seconds float64, name, value string) {
	if n := len(t.rows); n == 0 || t.rows[n-1].iteration != iteration {
		t.rows = append(t.rows, logRow{iteration: iteration, seconds: seconds, values: map[string]string{}})
	}
	row := &t.rows[len(t.rows)-1]
	if _, ok := row.values[name]; ok {
		return
	}
	row.values[name] = value
	for _, c := range t.columns {
		if c == name {
			return
		}
	}
	t.columns = append(t.columns, name)
}

func (t *logTable) write(w io.Writer, delimiter rune) error {
	out := csv.NewWriter(w)
	out.Comma = delimiter
	if err := out.Write(append([]string{"NumIters", "Seconds", "LearningRate"}, t.columns...)); err != nil {
		return err
	}
	for _, row := range t.rows {
		rate := row.rate
		if rate == "" {
			rate = "nan"
		}
		fields := []string{strconv.Itoa(row.iteration), strconv.FormatFloat(row.seconds, 'f', 6, 64), rate}
		for _, c := range t.columns {
			fields = append(fields, row.values[c])
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
