package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
)

// each runs a test for some problems of every kind.
func each(t *testing.T, count int, test func(t *testing.T, k randomtest.Kind, p randomtest.Problem)) {
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			for i := range count {
				test(t, k, k.Random(rand.New(rand.NewPCG(1, uint64(i)))))
			}
		})
	}
}

// TestProblems: fixed problems have no failures.
func TestProblems(t *testing.T) {
	count := 40
	if testing.Short() {
		count = 20
	}
	each(t, count, func(t *testing.T, _ randomtest.Kind, p randomtest.Problem) {
		if err := p.Check(); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	})
}

// TestRoundTrip: the text of a problem is one line, and its kind parses it; the same holds for smaller problems.
func TestRoundTrip(t *testing.T) {
	each(t, 15, func(t *testing.T, k randomtest.Kind, p randomtest.Problem) {
		for i, p := range append([]randomtest.Problem{p}, p.Smaller()...) {
			if i > 20 {
				break
			}
			text := p.String()
			q, err := k.Parse(text + "\n")
			if err != nil || q.String() != text || strings.Contains(text, "\n") {
				t.Fatalf("%q is read as %v, error %v", text, q, err)
			}
		}
	})
}

// TestSameDraws: a problem depends on the random numbers alone.
func TestSameDraws(t *testing.T) {
	each(t, 50, func(t *testing.T, k randomtest.Kind, p randomtest.Problem) {
		seed := rand.New(rand.NewPCG(5, 5))
		again := rand.New(rand.NewPCG(5, 5))
		if a, b := k.Random(seed), k.Random(again); a.String() != b.String() {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

// TestSmallerEnds: problems get smaller, and never larger again.
func TestSmallerEnds(t *testing.T) {
	each(t, 3, func(t *testing.T, _ randomtest.Kind, p randomtest.Problem) {
		for steps := 0; ; steps++ {
			list := p.Smaller()
			if len(list) == 0 {
				return
			}
			if p = list[steps%min(3, len(list))]; steps > 500 {
				t.Fatalf("no end at %v", p)
			}
		}
	})
}

// TestParseErrors: what is wrong with a text is said.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"conv n=1": "does not begin", "product m=x": "invalid syntax", "product q=1": `no field "q"`, "product values=odd": "one of",
		"product threads=1,x": "shares of threads", "": "does not begin",
	} {
		if _, err := Kinds()[0].Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestConvReference: the reference itself, against sums by hand: results 1*x[i-1] + 10*x[i+1] of images 1 2 3 4 with stride 2.
func TestConvReference(t *testing.T) {
	c := &convForm{N: 1, C: 1, Out: 1, Group: 1, In: []int{4}, Kernel: []int{2}, Stride: []int{2}, Pad: []int{1}, Dilation: []int{2}}
	out, ok := c.results()
	if !ok || len(out) != 1 || out[0] != 2 {
		t.Fatalf("results %v", out)
	}
	ref := convolution{convForm: c, met: c.meetings(out), image: 4, plane: 2, kernel: 2}
	x, w, dy := []float32{1, 2, 3, 4}, []float32{1, 10}, []float32{1, 100}
	for d, want := range [][]float64{{20, 42}, {200, 402}, {0, 110, 0, 1000}} {
		s := newSums(len(want))
		ref.add(s, shape.Direction(d), x, w, dy)
		for i, v := range want {
			if s.value[i] != v {
				t.Errorf("direction %d: %v, want %v", d, s.value, want)
				break
			}
		}
	}
}

// broken returns a problem's failure if its kernel is replaced by what wrong makes of it.
func broken(t *testing.T, text string, wrong func(j *job, m *cpe.Machine, k *run) *run) string {
	t.Helper()
	for _, k := range Kinds() {
		if !strings.HasPrefix(text, k.Name) {
			continue
		}
		p, err := k.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := p.(problem).shape
		j, err := s.job()
		if err != nil {
			t.Fatal(err)
		}
		build := j.build
		j.build = func(m *cpe.Machine) (*run, error) {
			k, err := build(m)
			if err != nil {
				return nil, err
			}
			return wrong(j, m, k), nil
		}
		if err := j.check(s.base()); err != nil {
			return err.Error()
		}
		return ""
	}
	t.Fatalf("no kind for %q", text)
	return ""
}

// named is a job's array of a name.
func named(j *job, name string) *array {
	for _, a := range j.arrays {
		if a.name == name {
			return a
		}
	}
	return nil
}

// productText is a product, ofConv a convolution by a strategy, with what is called and the kind of its values.
const productText = "product m=5 n=37 k=40 entry=multiplier seed=3 cache=0 shift=0 threads=1,2,0"

func ofConv(strategy, entry, kind string) string {
	return "conv n=2 c=16 out=16 group=1 in=7,7 kernel=3,3 stride=1,1 pad=1,1 dilation=1,1 poolk=2 pools=2 poolp=0 seed=3 cache=0 shift=0 threads=1,1" +
		" strategy=" + strategy + " entry=" + entry + " values=" + kind
}

// wrongly changes what an array holds after every run.
func wrongly(name string, change func(data []float32)) func(j *job, m *cpe.Machine, k *run) *run {
	return func(j *job, _ *cpe.Machine, k *run) *run {
		do := k.do
		return &run{func() error {
			err := do()
			change(named(j, name).data)
			return err
		}, k.scratch}
	}
}

// add is a change of one value.
func add(at int, v float32) func(data []float32) { return func(data []float32) { data[at] += v } }

// nextBits changes a value's last bit.
func nextBits(c []float32) { c[9] = math.Nextafter32(c[9], 9) }

// onThreads does so on more than one core group.
func onThreads(j *job, m *cpe.Machine, k *run) *run {
	if m.Spec().CoreGroups == 1 {
		return k
	}
	return wrongly("C", nextBits)(j, m, k)
}

// secondTime does so from the second run on.
func secondTime(j *job, m *cpe.Machine, k *run) *run {
	times := 0
	return wrongly("C", func(c []float32) {
		if times++; times > 1 {
			nextBits(c)
		}
	})(j, m, k)
}

// faults are faults to inject into a correct kernel, with the checker's expected message; "" for none.
var faults = map[string]struct {
	text  string
	wrong func(j *job, m *cpe.Machine, k *run) *run
	want  string
}{
	"nothing wrong":          {productText, wrongly("C", func([]float32) {}), ""},
	"a value":                {productText, wrongly("C", add(184, 1e-4)), "C[184] of 185"},
	"one not written":        {productText, wrongly("C", add(7, float32(math.NaN()))), "C[7] of 185 = NaN"},
	"an operand written":     {productText, wrongly("B", add(3, 1)), "B, which is only read: value 3"},
	"beside an array":        {productText, wrongly("C", overrun), "beside it was written"},
	"pooling's gradient":     {"pool n=1 c=3 h=8 w=9 kh=3 kw=3 sh=2 sw=2 ph=0 pw=0 seed=1 cache=0 shift=0 threads=1", wrongly("dx", add(17, 1e-5)), "dx["},
	"pooling's places":       {"pool n=1 c=3 h=8 w=9 kh=3 kw=3 sh=2 sw=2 ph=0 pw=0 seed=1 cache=0 shift=0 threads=1", wrongly("mask", otherBits), "took place"},
	"a convolution's result": {ofConv("implicit", "forward", "coarse"), wrongly("y", add(100, 1e-5)), "y[100] of 1568"},
	"Winograd's result":      {ofConv("winograd2", "forward", "ordinary"), wrongly("y", add(100, 2e-3)), "y[100] of 1568"},
	"a weight's gradient":    {ofConv("explicit", "weights", "ordinary"), wrongly("dw", add(2303, 1e-3)), "dw[2303] of 2304"},
	"an input's gradient":    {ofConv("implicit", "input", "ordinary"), wrongly("dx", add(0, 1e-4)), "dx[0] of 1568"},
	"normalised":             {"norm n=1 c=16 h=6 w=5 k=2 s=2 p=0 size=5 beta=75 seed=1 cache=0 shift=0 threads=1", wrongly("dx", add(1, 1e-4)), "dx[1] of 480"},
	"an element of a stream": {"stream outer=3 mid=4 inner=5 full=1 plane=0 row=0 fullout=1 planeout=0 sums=0 gap=0 seed=1 cache=0 shift=0 threads=1", wrongly("output 0", add(59, 1e-3)), "output 0[59]"},
	"other bits on threads":  {productText, onThreads, "threads 1,2,0: C[9]"},
	"state left over":        {productText, secondTime, "the second run: C[9]"},
	"no error":               {strings.Replace(productText, "m=5", "m=-5", 1), nil, errNoError.Error()},
	"other charges":          {"product m=5 n=37 k=40 seed=3 cache=0 shift=0 model=sw26010 threads=", chargeTwice, "the ledger with values"},
	"a modelled value": {
		"product m=5 n=37 k=40 seed=3 cache=0 shift=0 model=sw26010 threads=", wrongly("C", add(1, 1e-4)), "functional: C[1]",
	},
}

// TestWrongIsFound: the checker finds every injected fault in an otherwise correct kernel.
func TestWrongIsFound(t *testing.T) {
	for name, tt := range faults {
		t.Run(name, func(t *testing.T) {
			var got string
			if tt.wrong == nil {
				j := &job{invalid: true, build: func(*cpe.Machine) (*run, error) { return &run{}, nil }}
				got = j.check(&common{}).Error()
			} else {
				got = broken(t, tt.text, tt.wrong)
			}
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// otherBits makes the first place another one.
func otherBits(data []float32) {
	data[0] = math.Float32frombits(math.Float32bits(data[0]) ^ 1)
}

// chargeTwice runs a kernel twice where only costs count.
func chargeTwice(_ *job, m *cpe.Machine, k *run) *run {
	return &run{func() error {
		if err := k.do(); err != nil || m.Values() {
			return err
		}
		return k.do()
	}, k.scratch}
}
