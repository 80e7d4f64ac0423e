// Package judge runs a program on a conformance case and reports deviations from expected.json and from the files beside it.
// [Run] does all of it. A value v agrees with an expected value e if |v-e| <= atol + rtol*|e|.
package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Expected is the content of expected.json. Missing fields are not checked.
type Expected struct {
	Kind, Category, Note string
	Cmds                 [][]string
	RTol, ATol           *float64

	Losses, LR   [][2]float64                  // (iteration, value) of every line
	TestLoss     []float64                     `json:"test_loss"`
	TrainOut     map[string][]float64          `json:"train_out"`
	TestOut      map[string][]float64          `json:"test_out"`
	Outputs      map[string][]float64          // outputs of the test command's batches
	Loss         *float64                      // loss of the test command
	Match, Words []string                      // Match: patterns that must all occur in the output; Words: one must occur in the error message
	Files        []string                      // files that must exist
	Snapshot     string                        // must agree with expected.caffemodel
	SolverState  string                        // must agree with expected.solverstate
	Checks       []blobCheck                   // checks of the snapshot's weights
	RepeatEqual  bool                          `json:"repeat_equal"` // a second run gives the same snapshot
	HDF5File     string                        `json:"hdf5_file"`
	HDF5Datasets map[string][2]json.RawMessage `json:"hdf5_datasets"` // shape and values
}

// limit is the time limit of a command. A command that exceeds it fails.
const limit = time.Minute

// Run judges one case. It runs the commands in work, an empty folder.
func Run(binary, dir, work string) error {
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		return err
	}
	e := &Expected{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // every expectation must be one that judge checks
	if err := d.Decode(e); err != nil {
		return fmt.Errorf("%s/expected.json: %w", dir, err)
	}
	if err := copyCase(dir, work); err != nil {
		return err
	}
	if len(e.Cmds) == 0 {
		return fmt.Errorf("%s has no commands", dir)
	}
	var output string
	for i, args := range e.Cmds {
		out, err := command(binary, args, work)
		if e.Kind == "error" && i == len(e.Cmds)-1 {
			return e.judgeError(out, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
		output = out
	}
	return e.judge(binary, dir, work, output)
}

// copyCase copies a case without its expected results.
func copyCase(dir, work string) error {
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		return err
	}
	expected, err := filepath.Glob(filepath.Join(work, "expected.*"))
	for _, file := range expected {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return err
}

func command(binary string, args []string, work string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir = work
	c.Env = append(os.Environ(), "GLOG_logtostderr=1")
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("no end after %v", limit)
	}
	return string(out), err
}

// judgeError expects a failure with a message and without signs of a crash.
func (e *Expected) judgeError(output string, err error) error {
	if err == nil {
		return fmt.Errorf("exit status 0, an error was expected")
	}
	if strings.Contains(output, "panic: ") || strings.Contains(output, "goroutine ") {
		return fmt.Errorf("crashed: %s", output)
	}
	message := strings.ToLower(errorLines(output))
	for _, w := range e.Words {
		if strings.Contains(message, strings.ToLower(w)) {
			return nil
		}
	}
	return fmt.Errorf("%w: the message has none of %q: %s", err, e.Words, message)
}

var (
	glogInfo   = regexp.MustCompile(`^I\d{4} `)
	namesError = regexp.MustCompile(`(?i)\b(error|fatal|failed)\b`)
)

// errorLines returns the lines outside the log, and the log lines of an error.
func errorLines(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		if !glogInfo.MatchString(line) || namesError.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func (e *Expected) judge(binary, dir, work, output string) error {
	switch e.Kind {
	case "run":
		for _, pattern := range e.Match {
			if ok, err := regexp.MatchString(pattern, output); err != nil || !ok {
				return fmt.Errorf("no line like %s in the output (error %v):\n%s", pattern, err, output)
			}
		}
		return nil
	case "train", "test":
		if err := e.judgeLog(output); err != nil {
			return err
		}
		return e.judgeFiles(dir, work)
	case "filler":
		return e.judgeFillers(binary, work)
	}
	return fmt.Errorf("%s is of no known kind: %q", dir, e.Kind)
}

func (e *Expected) judgeFillers(binary, work string) error {
	got, err := readWeights(filepath.Join(work, e.Snapshot))
	if err != nil {
		return err
	}
	for _, c := range e.Checks {
		if err := c.judge(got); err != nil {
			return err
		}
	}
	if !e.RepeatEqual {
		return nil
	}
	if out, err := command(binary, e.Cmds[len(e.Cmds)-1], work); err != nil {
		return fmt.Errorf("the second time: %w\n%s", err, out)
	}
	again, err := readWeights(filepath.Join(work, e.Snapshot))
	if err != nil {
		return err
	}
	for k, b := range got {
		if err := (tolerance{}).list(k.String()+" the second time", again[k].values, b.values); err != nil {
			return err
		}
	}
	return nil
}
