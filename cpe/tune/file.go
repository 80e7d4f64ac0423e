package tune

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/tuningpb"
)

// head is the comment at the top of a tuning file.
const head = `# What swcaffe -tune measured: a line for each direction of a convolution with the algorithm to take and the milliseconds of
# all. What is missing is measured and added; remove a line to have it measured again.
`

// read parses the entries of a file's text.
func (t *Tuner) read(text []byte) error {
	p := &tuningpb.Tuning{}
	source, err := swproto.UnmarshalText(t.path, text, p)
	if err != nil {
		return err
	}
	if p.GetMachine() != t.machine {
		return fmt.Errorf("%s: tuned for %q, but this machine is %q: give another file name; the file will be created",
			source.Pos("machine"), p.GetMachine(), t.machine)
	}
	for i, c := range p.Convolution {
		k := key{c.GetShape(), shape.Direction(c.GetDirection())}
		at := source.Pos(fmt.Sprintf("convolution[%d]", i))
		if _, twice := t.entries[k]; twice {
			return fmt.Errorf("%s: the %v of %s is tuned twice", at, k.direction, k.shape)
		}
		if c.Algorithm == nil {
			t.log.Warnf("%s: the line names a strategy, not an algorithm: it is measured again", at)
			continue
		}
		e := entry{algorithm: c.GetAlgorithm(), threads: int(c.GetThreads())}
		if _, err := plan.FindAlgorithm(e.algorithm); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		for _, m := range c.Time {
			if ms := m.GetMs(); !(ms >= 0 && ms < math.MaxInt64/float64(time.Millisecond)) {
				return fmt.Errorf("%s: %g ms is no time of an algorithm", at, ms)
			}
			e.took = append(e.took, conv.Timing{
				Algorithm: m.GetAlgorithm(), Time: time.Duration(m.GetMs() * float64(time.Millisecond)),
			})
		}
		t.entries[k] = e
	}
	return nil
}

// save writes the file, sorted by shape and direction, atomically.
func (t *Tuner) save() error {
	var b strings.Builder
	fmt.Fprintf(&b, "%smachine: %q\n", head, t.machine)
	order := func(a, b key) int {
		return cmp.Or(strings.Compare(a.shape, b.shape), cmp.Compare(a.direction, b.direction))
	}
	for _, k := range slices.SortedFunc(maps.Keys(t.entries), order) {
		e := t.entries[k]
		fmt.Fprintf(&b, "convolution { shape: %q direction: %v algorithm: %q", k.shape, tuningpb.TunedConvolution_Direction(k.direction), e.algorithm)
		for _, m := range e.took {
			fmt.Fprintf(&b, " time { algorithm: %q ms: %.6f }", m.Algorithm, milliseconds(m.Time))
		}
		if e.threads > 0 {
			fmt.Fprintf(&b, " threads: %d", e.threads)
		}
		b.WriteString(" }\n")
	}
	return swproto.WriteFileAtomic(t.path, func(f *os.File) error {
		_, err := f.WriteString(b.String())
		return err
	})
}
