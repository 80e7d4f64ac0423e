package tune

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

func spec(t *testing.T, machine string) cpe.Spec {
	t.Helper()
	s, err := cpe.Load(machine)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open opens a file and returns what is logged as well.
func open(t *testing.T, path string) (*Tuner, *bytes.Buffer) {
	t.Helper()
	log, out := logrus.New(), &bytes.Buffer{}
	log.SetOutput(out)
	u, err := Open(path, spec(t, "host"), log)
	if err != nil {
		t.Fatal(err)
	}
	return u, out
}

var (
	square = shape.Conv{
		N: 4, C: 3, Out: 8, Group: 1,
		In: []int{9, 7}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{1, 1}, Dilation: []int{1, 1},
	}
	wide = shape.Conv{
		N: 4, C: 3, Out: 8, Group: 1,
		In: []int{7, 9}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{1, 1}, Dilation: []int{1, 1},
	}
)

// task is that of images and results by planes.
func task(s shape.Conv, d shape.Direction) conv.Key {
	return conv.Key{Shape: s, Direction: d}
}

// TestWhatIsMeasuredIsReadAgain: the fastest is chosen, for that direction of that shape alone, by this Tuner and by the next.
func TestWhatIsMeasuredIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.prototxt")
	u, out := open(t, path)
	if _, known := u.Choice(task(square, shape.Forward)); known {
		t.Error("a new file knows a choice")
	}
	took := []conv.Timing{
		{Algorithm: "explicit-gemm", Time: 3 * time.Millisecond}, {Algorithm: "winograd4-tiles", Time: 1500 * time.Microsecond},
		{Algorithm: "implicit-padded", Time: 2 * time.Millisecond},
	}
	if err := u.Measured(task(square, shape.Forward), took); err != nil {
		t.Fatal(err)
	}
	if err := u.Measured(task(wide, shape.InputGradient), took[:1]); err != nil {
		t.Fatal(err)
	}
	if want := "winograd4-tiles (winograd4-tiles 1.5 ms, implicit-padded 2 ms, explicit-gemm 3 ms)"; !strings.Contains(out.String(), want) {
		t.Errorf("the log does not say %q: %s", want, out)
	}
	for what, u := range map[string]*Tuner{"the tuner": u, "the file": reopened(t, path)} {
		for _, c := range []struct {
			shape     shape.Conv
			direction shape.Direction
			want      string
			known     bool
		}{
			{square, shape.Forward, "winograd4-tiles", true}, {square, shape.InputGradient, "", false},
			{wide, shape.InputGradient, "explicit-gemm", true}, {wide, shape.Forward, "", false},
		} {
			if got, known := u.Choice(task(c.shape, c.direction)); known != c.known || known && got != c.want {
				t.Errorf("%s chooses %v (%t) for the %v of %v, want %v (%t)", what, got, known, c.direction, c.shape, c.want, c.known)
			}
		}
	}
}

// TestChoice: another algorithm than the cost model's, which is measured first, is taken if it is clearly faster.
func TestChoice(t *testing.T) {
	for other, want := range map[time.Duration]string{
		110: "winograd4-tiles", 100: "winograd4-tiles", 96: "winograd4-tiles", 94: "implicit-padded", 50: "implicit-padded",
	} {
		u, _ := open(t, filepath.Join(t.TempDir(), "t"))
		asked := conv.Key{Shape: square, ImagesInBlocks: true}
		took := []conv.Timing{{Algorithm: "winograd4-tiles", Time: 100}, {Algorithm: "explicit-gemm", Time: 200}, {Algorithm: "implicit-padded", Time: other}}
		if err := u.Measured(asked, took); err != nil {
			t.Fatal(err)
		}
		if got, ok := u.Choice(asked); !ok || got != want {
			t.Errorf("of 100 ns for the cost model's and %d for another: %v, want %v", other, got, want)
		}
		for _, lies := range []conv.Key{{Shape: square}, {Shape: square, ResultsInBlocks: true}, {Shape: square, ImagesInBlocks: true, ResultsInBlocks: true}} {
			if got, ok := u.Choice(lies); ok {
				t.Errorf("%v: %v, though nothing was measured with images that lie so", lies, got)
			}
		}
	}
}

func reopened(t *testing.T, path string) *Tuner {
	u, _ := open(t, path)
	return u
}

// TestFileIsStable: a file that is read and written again is the same, whatever the order of measurements was.
func TestFileIsStable(t *testing.T) {
	write := func(shapes ...shape.Conv) (path, text string) {
		path = filepath.Join(t.TempDir(), "t.prototxt")
		u, _ := open(t, path)
		for _, s := range shapes {
			if err := u.Measured(task(s, shape.WeightGradient), []conv.Timing{{Algorithm: "implicit-padded", Time: 1234567}}); err != nil {
				t.Fatal(err)
			}
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, string(content)
	}
	path, a := write(square, wide)
	if _, b := write(wide, square); a != b {
		t.Errorf("the order of measurements shows:\n%s\n%s", a, b)
	}
	if err := reopened(t, path).save(); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(path); string(again) != a {
		t.Errorf("read and written again:\n%s\nit was\n%s", again, a)
	}
	if !strings.Contains(a, "ms: 1.234567") {
		t.Errorf("the time is not there:\n%s", a)
	}
}

// TestBadFiles: an error names the file, the line and what is wrong there.
func TestBadFiles(t *testing.T) {
	machine := machineLine(spec(t, "host"))
	conv := `convolution { shape: "4x3" direction: FORWARD algorithm: "implicit-padded" }` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"another machine", `machine: "abacus"`, `t.prototxt:1: tuned for "abacus", but this machine is "` + machine + `"`},
		{"no machine", conv, "machine"},
		{"no text format", "{", "t.prototxt:1:1: "},
		{"an algorithm there is not", "machine: \"" + machine + "\"\n" + strings.ReplaceAll(conv, "padded", "guessed"), `t.prototxt:2: unknown convolution algorithm "implicit-guessed"`},
		{"a choice twice", "machine: \"" + machine + "\"\n" + conv + conv, "t.prototxt:3: the forward of 4x3 is tuned twice"},
		{
			"time that runs backwards",
			"machine: \"" + machine + "\"\n" + strings.ReplaceAll(conv, " }", ` time { algorithm: "explicit-gemm" ms: -1 } }`),
			"t.prototxt:2: -1 ms is no time of an algorithm",
		},
	} {
		path := filepath.Join(t.TempDir(), "t.prototxt")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, spec(t, "host"), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "no", "t"), spec(t, "host"), nil); err == nil {
		t.Error("a file that cannot be written is found only after measuring")
	}
	path := filepath.Join(t.TempDir(), "t")
	if _, err := Open(path, spec(t, "sw26010"), nil); err == nil || !strings.Contains(err.Error(), `"sw26010" is modelled`) {
		t.Errorf("a modelled machine: error %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a modelled machine has a tuning file")
	}
}

func TestProcessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(path, []byte("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU: 2 GHz\n\nmodel name\t: Other\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := processor(path); got != "Some CPU: 2 GHz" {
		t.Errorf("the processor is %q", got)
	}
}

// TestEmptyFile: a file that only has a name yet, as mktemp makes them, is one to write to.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one reads what the first one has written
		if _, err := Open(path, spec(t, "host"), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEarlierFile: lines of an earlier version, which name strategies, are left out with a warning and measured again.
func TestEarlierFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.prototxt")
	text := fmt.Sprintf("machine: %q\nconvolution { shape: %q direction: FORWARD strategy: IMPLICIT time { strategy: IMPLICIT ms: 1 } }\n",
		machineLine(spec(t, "host")), task(square, shape.Forward).String())
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	u, out := open(t, path)
	if name, known := u.Choice(task(square, shape.Forward)); known {
		t.Errorf("it knows %s", name)
	}
	if want := "t.prototxt:2: the line names a strategy, not an algorithm: it is measured again"; !strings.Contains(out.String(), want) {
		t.Errorf("the log does not say %q: %s", want, out)
	}
}
