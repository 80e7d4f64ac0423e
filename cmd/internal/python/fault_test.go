package python

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// faulty is a layer whose Forward panics on the machine's last core group, if broken, and else copies nothing.
type faulty struct{ layers.Base }

var broken bool

func init() {
	layers.Register(layers.Type{
		Name: "Faulty", Doc: "panics in tests",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &faulty{layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(1),
	})
}

func (l *faulty) SetUp(_, top []*blob.Blob) error   { return nil }
func (l *faulty) Reshape(_, top []*blob.Blob) error { top[0].Reshape(1); return nil }
func (l *faulty) Forward(_, _ []*blob.Blob) error   { return l.Device.Machine.Run(program{}, 0) }
func (l *faulty) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error {
	return nil
}

type program struct{}

func (program) Name() string { return "faulty" }

func (program) RunGroup(g *cpe.CoreGroup) error {
	if broken && g.Index() == g.Spec().CoreGroups-1 {
		explode()
	}
	return nil
}

func explode() { panic("an injected fault") }

// TestFault: a panic on a goroutine of the machine becomes an error with its stack, for nets and solvers. The net can be used again.
func TestFault(t *testing.T) {
	Callback = func(Op, int64, string, []byte) int64 { return 0 }
	file := filepath.Join(t.TempDir(), "net.prototxt")
	write(t, file, `layer { name: "f" type: "Faulty" top: "f" loss_weight: 1 }`)
	solver := filepath.Join(t.TempDir(), "solver.prototxt")
	write(t, solver, fmt.Sprintf("net: %q base_lr: 1 lr_policy: 'fixed' max_iter: 9 snapshot_after_train: false", file))
	run := map[string]func() error{}
	n := open(t, "net", netRequest{File: file})
	run["net"] = func() error { _, err := Forward(n, 0, 0); return err }
	v := open(t, "solver", solverRequest{File: solver})
	run["solver"] = func() error { _, _, err := Step(v, 1); return err }
	defer Release(n)
	defer Release(v)
	for name, f := range run {
		for turn := range 4 {
			broken = turn%2 == 0
			err := f()
			broken = false
			if turn%2 == 1 {
				if err != nil {
					t.Errorf("%s, after a panic: %v", name, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "an injected fault") || !strings.Contains(err.Error(), "python.explode") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// open opens a net or solver and returns its handle.
func open(t *testing.T, function string, request any) Handle {
	t.Helper()
	arguments, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Result struct{ Handle Handle }
		Fault  *Fault
	}
	if err := json.Unmarshal(Call(function, arguments), &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Fault != nil {
		t.Fatal(reply.Fault)
	}
	return reply.Result.Handle
}

// TestExit: the exit code of a command is its own, or 2 after a panic of it.
func TestExit(t *testing.T) {
	for _, c := range []struct {
		command func() int
		want    int
	}{{func() int { return 0 }, 0}, {func() int { return 1 }, 1}, {func() int { explode(); return 0 }, 2}} {
		if code := Exit(c.command); code != c.want {
			t.Errorf("exit code %d, want %d", code, c.want)
		}
	}
}
