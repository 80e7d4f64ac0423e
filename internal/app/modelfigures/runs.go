package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// place identifies a figure in a log.
type place struct {
	iteration, testNet int
	output             string
}

// run is a finished training run.
type run struct {
	processor string // with its vector level
	figures   map[place]float64
}

// readRuns returns a solver's finished runs by their seeds. scripts/train_zoo.sh puts runs into DIR/runs/SOLVER/seed_N, and adds
// a file "processor" when they have finished.
func readRuns(dir, solver string) (map[int]*run, error) {
	folder := filepath.Join(dir, strings.TrimSuffix(solver, ".prototxt"))
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs := map[int]*run{}
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), "seed_")
		seed, err := strconv.Atoi(text)
		if !ok || err != nil {
			continue
		}
		processor, err := os.ReadFile(filepath.Join(folder, e.Name(), "processor"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		figures, err := readLog(filepath.Join(folder, e.Name(), "log"))
		if err != nil {
			return nil, err
		}
		runs[seed] = &run{strings.TrimSpace(string(processor)), figures}
	}
	return runs, nil
}

var (
	testLine   = regexp.MustCompile(`\] Iteration (\d+), Testing net \(#(\d+)\)`)
	outputLine = regexp.MustCompile(`\]\s+Test net output #\d+: (\S+) = (\S+)`)
	lossLine   = regexp.MustCompile(`\] Iteration (\d+)(?: \([^)]*\))?, loss = (\S+)`)
)

// readLog returns all test outputs and displayed losses of a log. A resumed run repeats some of them with the same bits.
func readLog(path string) (map[place]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	figures := map[place]float64{}
	at := place{iteration: -1}
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		where, text := at, ""
		switch line := in.Text(); {
		case testLine.MatchString(line):
			m := testLine.FindStringSubmatch(line)
			at.iteration, _ = strconv.Atoi(m[1])
			at.testNet, _ = strconv.Atoi(m[2])
			continue
		case lossLine.MatchString(line):
			m := lossLine.FindStringSubmatch(line)
			iteration, _ := strconv.Atoi(m[1])
			where, text = place{iteration, training, trainingLoss}, m[2]
		case outputLine.MatchString(line):
			m := outputLine.FindStringSubmatch(line)
			where.output, text = m[1], m[2]
		default:
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s = %q is no number", path, n, where.output, text)
		}
		figures[where] = v
	}
	return figures, in.Err()
}
