package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

const log = `I1123 12:00:00.000000 1 solver.go:1] Iteration 0 (2 iter/s, 1s/2 iters), loss = 1.5
I1123 12:00:00.000000 1 solver.go:1]     Train net output #0: loss = 1.5 (* 1 = 1.5 loss)
I1123 12:00:00.000000 1 solver.go:1] Iteration 0, lr = 0.1
I1123 12:00:00.000000 1 solver.go:1]     Test net output #0: acc = 0.25
I1123 12:00:00.000000 1 solver.go:1] Test loss: 0.75
I1123 12:00:00.000000 1 test.go:1] Batch 0, y = nan
I1123 12:00:00.000000 1 test.go:1] Loss: 3
`

const agreed = `{"kind": "train", "losses": [[0, 1.5]], "lr": [[0, 0.1]], "train_out": {"loss": [1.5]}, "test_out": {"acc": [0.25]}, "test_loss": [0.75], "loss": 3}`

// TestJudgesEveryLine: every kind of log line is judged: a wrong figure is an error, and so is an additional line.
func TestJudgesEveryLine(t *testing.T) {
	judged := func(expected string) error {
		e := &Expected{}
		if err := json.Unmarshal([]byte(expected), e); err != nil {
			t.Fatal(err)
		}
		return e.judgeLog(log)
	}
	if err := judged(agreed); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{
		{"[[0, 1.5]]", "[[0, 1.51]]"}, {"[[0, 1.5]]", "[[1, 1.5]]"}, {"[[0, 1.5]]", "[]"}, {"[[0, 0.1]]", "[[0, 0.11]]"}, {`"loss": [1.5]`, `"loss": [1.6]`},
		{`"loss": [1.5]`, `"other": [1.5]`}, {"[0.25]", "[0.26]"}, {"[0.75]", "[0.75, 0.75]"}, {`"loss": 3`, `"loss": 4`}, {`"loss": 3`, `"loss": 3, "outputs": {"y": [1]}`},
	} {
		if judged(strings.Replace(agreed, c[0], c[1], 1)) == nil {
			t.Errorf("%s passes for %s", c[1], c[0])
		}
	}
}

// TestJudgesErrors wants exit status, words and no crash.
func TestJudgesErrors(t *testing.T) {
	e, failed := &Expected{Words: []string{"Axis", "shape"}}, os.ErrInvalid
	for output, want := range map[string]bool{
		"E1123 12:00:00.000000 1 main.go:1] axis 3 is out of range\n": true,
		"I1123 12:00:00.000000 1 net.go:1] axis 3\nwrong\n":           false,
		"axis 3\npanic: index out of range\n":                         false,
	} {
		if got := e.judgeError(output, failed); (got == nil) != want {
			t.Errorf("%q: %v", output, got)
		}
	}
	if e.judgeError("axis", nil) == nil {
		t.Error("exit status 0 passes for an error")
	}
}

// TestJudgesSnapshots: of a snapshot and a state every value counts, and every shape; of a small step its direction as well.
func TestJudgesSnapshots(t *testing.T) {
	dir := conformance.Own(t, "solver_adam")[0]
	e, file := &Expected{}, filepath.Join(t.TempDir(), "snapshot")
	changed := func(change func(*caffepb.NetParameter)) error {
		p := &caffepb.NetParameter{}
		if err := readMessage(filepath.Join(dir, "expected.caffemodel"), p); err != nil {
			t.Fatal(err)
		}
		change(p)
		write(t, file, p)
		return e.judgeSnapshot(dir, file)
	}
	if err := changed(func(*caffepb.NetParameter) {}); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*caffepb.NetParameter){
		"value": func(p *caffepb.NetParameter) { p.Layer[1].Blobs[0].Data[7] += 0.004 },
		"shape": func(p *caffepb.NetParameter) { p.Layer[1].Blobs[0].Shape.Dim = []int64{3, 5} },
		"less":  func(p *caffepb.NetParameter) { p.Layer[1].Blobs = p.Layer[1].Blobs[:1] },
		"more":  func(p *caffepb.NetParameter) { p.Layer[1].Blobs = append(p.Layer[1].Blobs, p.Layer[1].Blobs[0]) },
	} {
		if changed(change) == nil {
			t.Errorf("a snapshot with another %s passes", name)
		}
	}
	s := &caffepb.SolverState{}
	expected := filepath.Join(dir, "expected.solverstate")
	if err := first(e.judgeState(expected, expected), readMessage(expected, s)); err != nil {
		t.Fatal(err)
	}
	s.History[1].Data[0] += 0.01
	write(t, file, s)
	if e.judgeState(expected, file) == nil {
		t.Error("another history passes")
	}
	if (tolerance{1e-3, 1e-3}).step("w", []float64{100}, []float64{100.01}, []float64{99.99}) == nil {
		t.Error("a step the other way passes where values are large")
	}
}

func write(t *testing.T, file string, m proto.Message) {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestJudgesFillers: values and statistics of a weight.
func TestJudgesFillers(t *testing.T) {
	key := blobKey{"ip", 0}
	blobs := map[blobKey]stored{key: {[]int64{2, 2}, []float64{0, 1, 0.25, 0.75}}}
	one, half := 1.0, 0.5
	for _, c := range []struct {
		blobCheck
		want bool
	}{
		{blobCheck{Layer: "ip", Shape: []int64{2, 2}, Values: []float64{0, 1, 0.25, 0.75}, UnitSum: &one}, true},
		{blobCheck{Layer: "ip", Stats: map[string][2]float64{"mean": {0.5, 0.5}, "std": {0.39, 0.4}, "zero": {0.25, 0.25}, "max": {1, 1}}}, true},
		{blobCheck{Layer: "ip", Stats: map[string][2]float64{"std": {0.3, 0.39}}}, false},
		{blobCheck{Layer: "ip", Stats: map[string][2]float64{"median": {0, 1}}}, false},
		{blobCheck{Layer: "ip", Values: []float64{0, 1, 0.25, 0.7}}, false},
		{blobCheck{Layer: "ip", Shape: []int64{4}}, false},
		{blobCheck{Layer: "ip", UnitSum: &half}, false},
		{blobCheck{Layer: "ip", Blob: 1}, false},
	} {
		if err := c.judge(blobs); (err == nil) != c.want {
			t.Errorf("%+v: %v", c.blobCheck, err)
		}
	}
}
