// Package tune stores measured times of convolution algorithms on this computer in a file that later runs read.
//
// A [Tuner] answers a kernel's question which algorithm to use. It looks the answer up in the file. If there is none, the kernel measures,
// and the Tuner adds the result. Runs that find all answers in the file use the same algorithms, and thus compute the same bits.
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
	swproto "github.com/swcaffe/swcaffe/proto"
)

// Tuner is a tuning file in use. It implements conv.Tuner.
type Tuner struct {
	path    string
	machine string
	log     *logrus.Logger
	now     func() time.Time
	entries map[key]entry
}

// key is a tuning problem: a direction of a convolution, with shape and layouts as conv.Key writes them.
type key struct {
	shape     string
	direction shape.Direction
}

// entry is the result for a key.
type entry struct {
	algorithm string
	took      []conv.Timing // fastest first
	threads   int
}

// Open reads a tuning file, or makes one if there is none or it is empty. It fails if the file was measured on another machine than spec's or
// with other vector instructions, or if spec is not native.
func Open(path string, spec cpe.Spec, log *logrus.Logger) (*Tuner, error) {
	if !spec.Native() {
		return nil, fmt.Errorf("machine %q is modelled: its strategies come from its cost model and are not measured", spec.Name)
	}
	t := &Tuner{path: path, machine: machineLine(spec), log: log, now: time.Now, entries: map[key]entry{}}
	var text []byte
	var err error
	if path != os.DevNull { // which keeps no results
		text, err = swproto.ReadFile(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(text) == 0: // mktemp makes empty ones
		return t, t.save()
	case err != nil:
		return nil, err
	}
	return t, t.read(text)
}

// Choice implements conv.Tuner.
func (t *Tuner) Choice(task conv.Key) (string, bool) {
	e, ok := t.entries[key{task.String(), task.Direction}]
	return e.algorithm, ok
}

// Now implements conv.Tuner.
func (t *Tuner) Now() time.Time { return t.now() }

// worthwhile is the time, relative to the cost model's choice, below which another algorithm is chosen. The convolution is measured alone,
// without the operations that a net fuses with it, and small differences are not reproducible.
const worthwhile = 0.95

// Measured implements conv.Tuner. It chooses the fastest algorithm, or the cost model's if that takes about as long. It writes the file at
// once, so that an interrupted run keeps its results.
func (t *Tuner) Measured(task conv.Key, took []conv.Timing) error {
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

// String returns the choice and the times.
func (e entry) String() string {
	var others []string
	for _, t := range e.took {
		others = append(others, fmt.Sprintf("%s %.4g ms", t.Algorithm, milliseconds(t.Time)))
	}
	return fmt.Sprintf("%s (%s)", e.algorithm, strings.Join(others, ", "))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
