package judge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// printed holds the values found in a log.
type printed struct {
	losses, rates              [][2]float64
	trainOut, testOut, outputs map[string][]float64
	testLosses, loss           []float64
}

// Log lines in Caffe's format.
var (
	lossLine     = regexp.MustCompile(`Iteration (\d+)(?: \([^)]*\))?, loss = (\S+)`)
	rateLine     = regexp.MustCompile(`Iteration (\d+), lr = (\S+)`)
	trainLine    = regexp.MustCompile(`Train net output #\d+: (.+?) = (\S+)`)
	testLine     = regexp.MustCompile(`Test net output #\d+: (.+?) = (\S+)`)
	batchLine    = regexp.MustCompile(`Batch \d+, (.+?) = (\S+)`)
	testLossLine = regexp.MustCompile(`Test loss: (\S+)`)
	lossOfTest   = regexp.MustCompile(`(?:\] |^)Loss: (\S+)`)
)

func parse(output string) (*printed, error) {
	p := &printed{trainOut: map[string][]float64{}, testOut: map[string][]float64{}, outputs: map[string][]float64{}}
	for line := range strings.Lines(output) {
		if err := p.add(strings.TrimRight(line, "\n")); err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	return p, nil
}

func (p *printed) add(line string) error {
	for _, k := range []struct {
		line *regexp.Regexp
		to   *[][2]float64
	}{{lossLine, &p.losses}, {rateLine, &p.rates}} {
		if m := k.line.FindStringSubmatch(line); m != nil {
			iteration, err := number(m[1])
			v, err2 := number(m[2])
			*k.to = append(*k.to, [2]float64{iteration, v})
			return first(err, err2)
		}
	}
	for _, k := range []struct {
		line *regexp.Regexp
		to   map[string][]float64
	}{{trainLine, p.trainOut}, {testLine, p.testOut}, {batchLine, p.outputs}} {
		if m := k.line.FindStringSubmatch(line); m != nil {
			v, err := number(m[2])
			k.to[m[1]] = append(k.to[m[1]], v)
			return err
		}
	}
	for _, k := range []struct {
		line *regexp.Regexp
		to   *[]float64
	}{{testLossLine, &p.testLosses}, {lossOfTest, &p.loss}} {
		if m := k.line.FindStringSubmatch(line); m != nil {
			v, err := number(m[1])
			*k.to = append(*k.to, v)
			return err
		}
	}
	return nil
}

func number(s string) (float64, error) { return strconv.ParseFloat(strings.TrimRight(s, ","), 64) }

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Expected) judgeLog(output string) error {
	got, err := parse(output)
	if err != nil {
		return err
	}
	t := e.tolerance()
	if e.Loss != nil {
		if err := t.list("Loss", got.loss, []float64{*e.Loss}); err != nil {
			return err
		}
	}
	if e.TestLoss != nil {
		if err := t.list("Test loss", got.testLosses, e.TestLoss); err != nil {
			return err
		}
	}
	return first(t.pairs("loss", got.losses, e.Losses), tolerance{1e-3, 1e-9}.pairs("lr", got.rates, e.LR), t.outputs("outputs", got.outputs, e.Outputs),
		t.outputs("test net outputs", got.testOut, e.TestOut), t.outputs("train net outputs", got.trainOut, e.TrainOut))
}

// pairs compares the values of lines with an iteration. It skips the comparison if want is nil.
func (t tolerance) pairs(what string, got, want [][2]float64) error {
	if want == nil {
		return nil
	}
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d lines, expected %d", what, len(got), len(want))
	}
	for i, w := range want {
		if g := got[i]; g[0] != w[0] || !t.agree(g[1], w[1]) {
			return fmt.Errorf("%s at iteration %v = %.7g, expected %.7g at %v", what, g[0], g[1], w[1], w[0])
		}
	}
	return nil
}

// outputs compares all outputs by name. It skips the comparison if want is nil.
func (t tolerance) outputs(what string, got, want map[string][]float64) error {
	if want == nil {
		return nil
	}
	if g, w := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(g, w) {
		return fmt.Errorf("%s: %q are printed, expected %q", what, g, w)
	}
	for name, w := range want {
		if err := t.list(what+" "+name, got[name], w); err != nil {
			return err
		}
	}
	return nil
}
