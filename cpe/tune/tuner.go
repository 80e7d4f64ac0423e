// Package tune keeps what was measured about this computer's ways to convolve, in a file that later runs read.
//
// A Tuner answers a kernel's question which algorithm to take from the file, and adds to it what the kernel measures where the
// file has no answer. Runs that find all answers in the file take the same algorithms, and so give the same bits.
package tune

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Tuner is a tuning file in use. It implements conv.Tuner.
type Tuner struct {
	path    string
	machine string
	log     *logrus.Logger
	now     func() time.Time
	entries map[key]entry
}

// key is what is tuned: a direction of a convolution, whose shape, and how images lie, is written as conv.Task does.
type key struct {
	shape     string
	direction shape.Direction
}

// entry is what is known about it.
type entry struct {
	algorithm string
	took      []conv.Timing // fastest first
	threads   int
}

// Open reads a tuning file, or makes one where there is none or an empty one. It fails if the file was measured on a machine other than spec's, which must be
// native, or with other vector instructions.
func Open(path string, spec cpe.Spec, log *logrus.Logger) (*Tuner, error) {
	if !spec.Native() {
		return nil, fmt.Errorf("machine %q is modelled: its strategies come from its cost model and are not measured", spec.Name)
	}
	t := &Tuner{path: path, machine: machineLine(spec), log: log, now: time.Now, entries: map[key]entry{}}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(text) == 0: // mktemp makes empty ones
		return t, t.save()
	case err != nil:
		return nil, err
	}
	return t, t.read(text)
}

// Choice implements conv.Tuner.
func (t *Tuner) Choice(task conv.Task) (string, bool) {
	e, ok := t.entries[key{task.String(), task.Direction}]
	return e.algorithm, ok
}

// Timings implements conv.Tuner.
func (t *Tuner) Timings(task conv.Task) []conv.Timing {
	return t.entries[key{task.String(), task.Direction}].took
}

// Now implements conv.Tuner.
func (t *Tuner) Now() time.Time { return t.now() }

// worthwhile is how much of the time of the cost model's choice another algorithm may take to be chosen: what is measured is a
// convolution alone, without what a net lets it do on the way, and what is a little faster now is not the next time.
const worthwhile = 0.95

// Measured implements conv.Tuner: it chooses the fastest algorithm, or the cost model's if that takes about as long, and writes the
// file at once, so that a run that is broken off leaves what it has found.
func (t *Tuner) Measured(task conv.Task, took []conv.Timing) error {
	model := took[0]
	took = slices.SortedStableFunc(slices.Values(took), func(a, b conv.Timing) int { return cmp.Compare(a.Time, b.Time) })
	e := entry{took[0].Algorithm, took, runtime.GOMAXPROCS(0)}
	if float64(took[0].Time) > worthwhile*float64(model.Time) {
		e.algorithm = model.Algorithm
	}
	t.entries[key{task.String(), task.Direction}] = e
	t.log.Infof("Tuned %v of %v: %s", task.Direction, task, e)
	return t.save()
}

// String prints the choice and the times.
func (e entry) String() string {
	var others []string
	for _, t := range e.took {
		others = append(others, fmt.Sprintf("%s %.4g ms", t.Algorithm, milliseconds(t.Time)))
	}
	return fmt.Sprintf("%s (%s)", e.algorithm, strings.Join(others, ", "))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
