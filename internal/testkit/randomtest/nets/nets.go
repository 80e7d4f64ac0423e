// Package nets draws random nets: trees, residual sums, inception blocks, in-place chains, shared blobs and weights, several
// losses, with every layer type that needs no files. A problem trains the net for two iterations, tests it, or uses it for
// inference:
//
//   - layer by layer on the CPE path, each layer with inputs from the plain MPE path, on this computer or on the SW26010;
//   - as a whole with fusion, layouts and memory plan, on several numbers of threads with uneven and empty shares, whose bits must be the same;
//   - again after its batch size has changed;
//   - with its batch divided among workers or core groups.
//
// It compares values with the MPE path's, within the tolerances of compare.go. If they differ by more, a rounder measures how far
// rounding errors move the values. Values that cancel, or are divided by a deviation near 0, may have no correct digits at all.
package nets

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Kinds returns two kinds of problems: nets of any layers, and pieces of the model zoo's nets.
func Kinds() []randomtest.Kind {
	return []randomtest.Kind{{Name: "net", Random: Random, Parse: Parse}, {Name: "zoo", Random: RandomPiece, Parse: Parse}}
}

// Uses of a net.
const (
	train     = "train"     // forward and backward in the TRAIN phase
	test      = "test"      // forward in the TEST phase, as a solver's test net
	inference = "inference" // forward in the TEST phase, in a net built for inference only
)

// problem is a net with instructions for running it. Its text is a prototxt that begins with the instructions as comments.
type problem struct {
	net      *caffepb.NetParameter
	use      string
	seed     uint64
	strategy shape.Strategy
	procs    int // GOMAXPROCS
	threads  []randomtest.Threads
	again    int  // batch size of a further iteration; 0: none
	mesh     bool // layer by layer on the SW26010
	workers  int  // that divide the batch, in one more iteration; 0: none

	noise *rand.Rand   // noise for the inputs, if not nil
	share layers.Share // of the worker whose net is built
}

// Random draws a net.
func Random(r *rand.Rand) randomtest.Problem {
	p := &problem{use: []string{train, train, train, test, inference}[r.IntN(5)], seed: r.Uint64N(1 << 32), procs: []int{1, 2, 2, 4}[r.IntN(4)]}
	p.threads = []randomtest.Threads{{1}}
	for range 1 + r.IntN(2) {
		p.threads = append(p.threads, randomtest.RandomThreads(r))
	}
	strategies := []shape.Strategy{shape.Auto, shape.Auto, shape.Auto, shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5}
	p.strategy = strategies[r.IntN(len(strategies))]
	work := 1e5 * math.Pow(200, r.Float64())
	if r.IntN(50) == 0 {
		work = 1e8
	}
	p.mesh = work < 4e5 && r.IntN(2) == 0
	b := draw(r, work)
	p.net = b.net()
	if r.IntN(10) < 3 {
		p.again = max(1, b.tips[0].shape[0]*(1+r.IntN(20))/10)
	}
	if p.use == train && r.IntN(2) == 0 {
		p.workers = []int{2, 3, 5}[r.IntN(3)]
	}
	return p
}

// draw grows a net that costs about so many multiply-adds. The builder's first tip is the net's input.
func draw(r *rand.Rand, work float64) *builder {
	b := &builder{r: r, work: work, values: 4e5, smooth: r.IntN(3) == 0, force: r.IntN(5) == 0}
	if b.force {
		b.text.WriteString("force_backward: true\n")
	}
	shape := b.shape()
	first := b.input("gauss", shape...)
	b.tips = append(b.tips, first)
	if len(shape) == 3 {
		b.sequence(first)
	}
	for range 1 + r.IntN(8) {
		if t := b.open((*tip).images); t != nil && b.chance(0.85) {
			b.growImages(t)
		} else if t := b.open(func(t *tip) bool { return !t.images() }); t != nil {
			b.growRows(t)
		}
	}
	if first.reads == 0 {
		b.product(first)
	}
	if first.reads == 0 {
		b.named("Sigmoid", first)
	}
	b.finish()
	return b
}

// net parses the text of the net.
func (b *builder) net() *caffepb.NetParameter {
	n := &caffepb.NetParameter{}
	if _, err := swproto.UnmarshalText("net", []byte(b.text.String()), n); err != nil {
		panic(fmt.Sprintf("nets: %v in\n%s", err, b.text.String()))
	}
	return n
}

// shape draws the shape of the first input.
func (b *builder) shape() []int {
	var s []int
	switch b.r.IntN(8) {
	case 0: // many images
		s = []int{b.integer(1, 10000), b.integer(1, 8), b.integer(1, 12), 0}
	case 1: // many channels
		s = []int{b.integer(1, 8), b.integer(16, 1000), b.integer(1, 16), 0}
	case 2: // large images
		s = []int{b.integer(1, 4), b.integer(1, 16), b.integer(32, 300), 0}
	case 3: // vectors
		s = []int{b.integer(1, 10000), b.integer(1, 10000)}
	case 4:
		s = []int{b.integer(1, 12), b.integer(1, 32), b.integer(1, 64)}
	default:
		s = []int{b.integer(1, 32), b.integer(1, 64), b.integer(4, 40), 0}
	}
	if len(s) == 4 {
		s[3] = s[2]
		if b.chance(0.2) {
			s[3] = b.integer(1, 60)
		}
	}
	for most := b.values / 4; float64(count(s)) > most; {
		k := b.r.IntN(len(s))
		s[k] = (s[k] + 1) / 2
	}
	return s
}

func (p *problem) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# use: %s\n# seed: %d\n# strategy: %v\n# procs: %d\n", p.use, p.seed, p.strategy, p.procs)
	for _, t := range p.threads {
		fmt.Fprintf(&s, "# threads: %v\n", t)
	}
	if p.again > 0 {
		fmt.Fprintf(&s, "# again: %d\n", p.again)
	}
	if p.mesh {
		s.WriteString("# mesh: true\n")
	}
	if p.workers > 0 {
		fmt.Fprintf(&s, "# workers: %d\n", p.workers)
	}
	s.Write(swproto.MarshalText(p.net))
	return s.String()
}

// Parse parses a net and the comments before it.
func Parse(text string) (randomtest.Problem, error) {
	p := &problem{net: &caffepb.NetParameter{}, use: train, procs: 1}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line, comment := strings.CutPrefix(lines.Text(), "# ")
		if !comment {
			break
		}
		key, value, _ := strings.Cut(line, ": ")
		if err := p.set(key, value); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	if len(p.threads) == 0 {
		p.threads = []randomtest.Threads{{1}}
	}
	_, err := swproto.UnmarshalText("net", []byte(text), p.net)
	return p, err
}

func (p *problem) set(key, value string) (err error) {
	switch key {
	case "use":
		p.use = value
	case "seed":
		p.seed, err = strconv.ParseUint(value, 10, 64)
	case "strategy":
		p.strategy, err = shape.ParseStrategy(value)
	case "procs":
		p.procs, err = strconv.Atoi(value)
	case "again":
		p.again, err = strconv.Atoi(value)
	case "workers":
		p.workers, err = strconv.Atoi(value)
	case "mesh":
		p.mesh = value == "true"
	case "threads":
		var t randomtest.Threads
		t, err = randomtest.ParseThreads(value)
		p.threads = append(p.threads, t)
	default:
		err = fmt.Errorf("no such setting")
	}
	return err
}
