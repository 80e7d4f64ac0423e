//go:build unix

package solver

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// armed has the devices whose layers of type TestFault fail, with the pass in which they do.
var armed sync.Map

var errFault = errors.New("a fault for the test")

func init() {
	layers.Register(layers.Type{
		Name: "TestFault", Doc: "fails when a test asks for it",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &testFault{layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// testFault copies its bottom, and its top's gradient.
type testFault struct{ layers.Base }

func (l *testFault) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *testFault) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	return nil
}

func (l *testFault) fails(pass string) error {
	if p, ok := armed.Load(l.Device); ok && p == pass {
		return errFault
	}
	return nil
}

func (l *testFault) Forward(bottom, top []*blob.Blob) error {
	copy(top[0].Data(), bottom[0].Data())
	return l.fails("forward")
}

func (l *testFault) Backward(top []*blob.Blob, _ []bool, bottom []*blob.Blob) error {
	copy(bottom[0].Diff(), top[0].Diff())
	return l.fails("backward")
}

// rescuedNet has everything that passes and tests change besides weights: random numbers, running statistics, and sequences.
const rescuedNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 6 dim: 2 dim: 7 dim: 7 } shape { dim: 6 } data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "bn" type: "BatchNorm" bottom: "c" top: "b" }
  layer { name: "drop" type: "Dropout" bottom: "b" top: "b" }
  layer { name: "ip" type: "InnerProduct" bottom: "b" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "fault" type: "TestFault" bottom: "y" top: "z" }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "z" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 lr_policy: "multistep" gamma: 0.5 stepvalue: 3 stepvalue: 7 random_seed: 5 max_iter: 9 test_iter: 2 test_interval: 2 snapshot_best: "loss" `

// failing makes a crew's rank fail in a place of iteration at, or in the test before it.
func (c *crew) failing(rank, at int, place string) (set func(rank int, s *Solver)) {
	solvers := make([]*Solver, max(1, c.workers))
	arm := func(d *layers.Device, pass string) { armed.Store(d, pass) }
	c.options = func(r int, o *Options) {
		now := func(p string) bool { return r == rank && p == place && solvers[r].Iter() == at }
		o.OnStart = func() error {
			s := solvers[r]
			switch {
			case now("start"):
				return errFault
			case now("forward"), now("backward"):
				arm(s.device, place)
			case now("core group"):
				arm(s.group.others[0].device, "forward")
			case now("panic"):
				panic(errFault)
			}
			return nil
		}
		o.OnGradients = func() error {
			if now("gradients") {
				return errFault
			}
			return nil
		}
		o.OnTest = func(int) func(int) {
			if now("test") {
				arm(solvers[r].testDevices[0], "forward")
			}
			return nil
		}
	}
	return func(r int, s *Solver) { solvers[r] = s }
}

// endState returns a worker's weights and statistics, its own and those shown.
func endState(s *Solver) (all []float32, err error) {
	if s.group.pack != nil {
		return resumedState(s)
	}
	for i := range s.net.NumLayers() {
		for _, b := range s.net.Layer(i).Params() {
			all = append(all, b.Data()...)
		}
	}
	return all, nil
}

// TestRescue: whatever fails, wherever, on whichever worker, the snapshot of the last whole iteration is there afterwards, and a run resumed from it
// gives the same bits as one without a fault.
func TestRescue(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	places := []string{"start", "forward", "backward", "gradients", "test", "panic", "core group"}
	ways := []crew{{}, {coreGroups: 2}, {workers: 2}, {workers: 3, team: Team{BucketBytes: 64}}, {workers: 2, team: Team{Strategy: "sync_easgd2"}}, {workers: 2, team: Team{Strategy: "easgd"}}}
	cases := 3 * len(places) * len(ways)
	if testing.Short() {
		cases = 24
	}
	whole := map[string][][]float32{}
	for k := range cases {
		c, place := ways[k%len(ways)], places[rng.IntN(len(places))]
		at, size := 1+rng.IntN(8), 1+rng.IntN(2)
		if place == "core group" && c.coreGroups < 2 {
			place = "backward"
		}
		rank := rng.IntN(max(1, c.workers))
		if place == "test" {
			if at = max(2, at/2*2); !c.team.splits() || c.team.Strategy != "" && c.team.Strategy != Sync {
				rank = 0
			}
		}
		c.text = rescuedNet + fmt.Sprintf("iter_size: %d", size)
		way := fmt.Sprintf("%d workers, %d core groups, strategy %q, iter_size %d", c.workers, c.coreGroups, c.team.Strategy, size)
		name := fmt.Sprintf("%s: %s of iteration %d on rank %d", way, place, at, rank)
		run := func(c crew, before func(rank int, s *Solver) error) ([][]float32, error) {
			all := make([][]float32, max(1, c.workers))
			return all, c.run(t, func(r int, s *Solver) (err error) {
				if err := before(r, s); err != nil {
					return err
				}
				if err := s.Solve(); err != nil {
					return err
				}
				all[r], err = endState(s)
				return err
			})
		}
		if whole[way] == nil {
			var err error
			if whole[way], err = run(c, func(int, *Solver) error { return nil }); err != nil {
				t.Fatal(name, err)
			}
		}
		dir, resumed := t.TempDir(), c
		c.dir, resumed.dir = dir, dir
		set := c.failing(rank, at, place)
		var err error
		func() {
			defer func() {
				if p := recover(); p != nil {
					err, _ = p.(error)
				}
			}()
			_, err = run(c, func(r int, s *Solver) error { set(r, s); return nil })
		}()
		if err == nil || !strings.Contains(err.Error(), errFault.Error()) {
			t.Fatalf("%s: error %v", name, err)
		}
		states, _ := filepath.Glob(filepath.Join(dir, "s_iter_*.solverstate"))
		want := []string{fmt.Sprintf("s_iter_%d.solverstate", at), fmt.Sprintf("s_iter_%d.solverstate", at+1)}
		if c.team.Strategy == "easgd" {
			want = append(want, fmt.Sprintf("s_iter_%d.solverstate", at+2))
		}
		if rank == 0 || place != "gradients" && c.team.Strategy != "easgd" {
			want = want[:1] // else the first worker may complete more iterations than the one that fails
		}
		if len(states) != 1 || !slices.Contains(want, filepath.Base(states[0])) {
			t.Errorf("%s: states %q, want one of %q", name, states, want)
			continue
		}
		state := states[0]
		got, err := run(resumed, func(r int, s *Solver) error { return s.Restore(state) })
		if err != nil {
			t.Fatal(name, err)
		}
		if c.team.Strategy == "easgd" || c.team.Strategy != "" && filepath.Base(state) != want[0] {
			continue // its workers start from the centre
		}
		for r := range got {
			sameBits(t, fmt.Sprintf("%s: rank %d", name, r), got[r], whole[way][r])
		}
	}
}

// TestNothingToRescue: where no snapshot is written the solver says why, and writes none.
func TestNothingToRescue(t *testing.T) {
	for _, tt := range []struct {
		place, more string
		at          int
		bad         float32
		want        string
	}{
		{"forward", "", 0, 0, "no iteration was completed"},
		{"forward", "snapshot_after_train: false", 2, 0, "the solver writes no snapshots"},
		{"forward", "", 2, float32(math.NaN()), "the weights have diverged: layer \"conv\""},
		{"forward", "", 2, float32(math.Inf(1)), "the weights have diverged: layer \"conv\""},
	} {
		c := crew{dir: t.TempDir(), text: strings.Replace(rescuedNet, `snapshot_best: "loss"`, tt.more, 1)}
		set := c.failing(0, tt.at, tt.place)
		err := c.run(t, func(_ int, s *Solver) error {
			set(0, s)
			if start := s.opt.OnStart; tt.bad != 0 {
				s.opt.OnStart = func() error {
					if s.iter == tt.at {
						s.Net().Learnable()[0].Blob.Data()[1] = tt.bad
					}
					return start()
				}
			}
			err := s.Solve()
			if !strings.Contains(s.Unkept(), tt.want) {
				t.Errorf("%q: it says %q", tt.want, s.Unkept())
			}
			return err
		})
		if !errors.Is(err, errFault) {
			t.Errorf("%q: error %v", tt.want, err)
		}
		if files, _ := filepath.Glob(filepath.Join(c.dir, "s_iter_*")); len(files) > 0 {
			t.Errorf("%q: %q are written", tt.want, files)
		}
	}
}

// TestSnapshotIsTriedAgain: a snapshot whose failure may pass ends no run: the solver tries again, with the weights of then. The run fails only if there
// is none at its end. A lasting failure ends the run, with a snapshot under another name.
func TestSnapshotIsTriedAgain(t *testing.T) {
	before := pauses
	defer func() { pauses = before }()
	pauses = []time.Duration{time.Microsecond, time.Microsecond}
	for _, tt := range []struct {
		name   string
		fails  error
		until  int // attempts to write weights that fail, 3 for each snapshot
		states string
		log    string
		ends   error
	}{
		{"it passes at once", syscall.ENOSPC, 2, "iter_4 iter_8 iter_9", "no space left on device; the next attempt is in 1µs", nil},
		{"it passes later", syscall.EMFILE, 7, "iter_7 iter_8 iter_9", "Training goes on; the next attempt is at iteration 5", nil},
		{"it stays", syscall.ENOSPC, 1000, "", "the next attempt is at iteration 7", syscall.ENOSPC},
		{"it lasts", syscall.EACCES, 1, "rescue_iter_4", "", syscall.EACCES},
	} {
		dir, failed := t.TempDir(), 0
		s := train(t, dir, strings.NewReplacer(`snapshot_best: "loss"`, "snapshot: 4").Replace(rescuedNet))
		var log strings.Builder
		showLog(s.log, &log)
		s.write = func(path string, m proto.Message) error {
			if strings.HasSuffix(path, ".caffemodel") && failed < tt.until {
				failed++
				return fmt.Errorf("cannot write %s: %w", path, tt.fails)
			}
			return swproto.WriteBinary(path, m)
		}
		err := s.Solve()
		if !errors.Is(err, tt.ends) || (err == nil) != (tt.ends == nil) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.ends)
		}
		if !strings.Contains(log.String(), tt.log) {
			t.Errorf("%s: the log lacks %q:\n%s", tt.name, tt.log, log.String())
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.solverstate"))
		var states []string
		for _, f := range files {
			states = append(states, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "s_"), ".solverstate"))
		}
		if got := strings.Join(states, " "); got != tt.states {
			t.Errorf("%s: states %q, want %q", tt.name, got, tt.states)
		}
	}
}

// TestWeightsOnAFullDisk: on a disk that has room for one file more than whole snapshots, the last weights are kept, not those of the first snapshot
// without a state.
func TestWeightsOnAFullDisk(t *testing.T) {
	before := pauses
	defer func() { pauses = before }()
	pauses = []time.Duration{time.Microsecond, time.Microsecond}
	for _, tt := range []struct {
		room int // files
		want string
	}{
		{2, "iter_2.caffemodel iter_2.solverstate"},
		{3, "iter_2.caffemodel iter_2.solverstate rescue_iter_9.caffemodel"},
		{4, "iter_2.caffemodel iter_2.solverstate iter_4.caffemodel iter_4.solverstate"},
		{5, "iter_2.caffemodel iter_2.solverstate iter_4.caffemodel iter_4.solverstate rescue_iter_9.caffemodel"},
	} {
		dir := t.TempDir()
		s := train(t, dir, strings.NewReplacer(`snapshot_best: "loss"`, "snapshot: 2").Replace(rescuedNet))
		files := func() (names []string) {
			paths, _ := filepath.Glob(filepath.Join(dir, "s_*iter_*"))
			for _, p := range paths {
				names = append(names, strings.TrimPrefix(filepath.Base(p), "s_"))
			}
			return names
		}
		s.write = func(path string, m proto.Message) error {
			if len(files()) >= tt.room { // the new file is written beside the old one
				return fmt.Errorf("cannot write %s: %w", path, syscall.ENOSPC)
			}
			return swproto.WriteBinary(path, m)
		}
		if err := s.Solve(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("room for %d files: error %v", tt.room, err)
		}
		if got := strings.Join(files(), " "); got != tt.want {
			t.Errorf("room for %d files: %s, want %s", tt.room, got, tt.want)
		}
		if last := "_rescue_iter_9.caffemodel"; strings.HasSuffix(tt.want, last[1:]) && !strings.HasSuffix(s.Unkept(), last) {
			t.Errorf("it does not say that there are weights: %s", s.Unkept())
		}
	}
}

// TestTargets: what a snapshot cannot replace is found before the first iteration, if the run will need the name.
func TestTargets(t *testing.T) {
	for _, tt := range []struct {
		name   string
		make   func(path string) error
		refuse string
	}{
		{"s_iter_4.caffemodel", func(p string) error { return os.Mkdir(p, 0o755) }, "it is a folder"},
		{"s_iter_8.solverstate", func(p string) error { return os.Mkdir(p, 0o755) }, "it is a folder"},
		{"s_iter_9.solverstate", func(p string) error { return os.Mkdir(p, 0o755) }, "it is a folder"},
		{"s_iter_4.caffemodel", func(p string) error { return syscall.Mkfifo(p, 0o600) }, "it is a pipe"},
		{"s_best.caffemodel", func(p string) error { return os.Mkdir(p, 0o755) }, "it is a folder"},
		{"s_iter_5.caffemodel", func(p string) error { return os.Mkdir(p, 0o755) }, ""},
		{"s_iter_4.caffemodel.h5", func(p string) error { return os.Mkdir(p, 0o755) }, ""},
		{"s_iter_12.caffemodel", func(p string) error { return os.Mkdir(p, 0o755) }, ""},
		{"s_iter_4.caffemodel", func(p string) error { return os.Symlink(os.DevNull, p) }, ""},
		{"s_iter_4.caffemodel", func(p string) error { return os.WriteFile(p, nil, 0o644) }, ""},
	} {
		dir := t.TempDir()
		if err := tt.make(filepath.Join(dir, tt.name)); err != nil {
			t.Fatal(err)
		}
		s, err := newSolver(t, dir, rescuedNet+"snapshot: 4")
		if err == nil {
			err = s.Solve()
		}
		if tt.refuse == "" && err != nil || tt.refuse != "" && (err == nil || !strings.Contains(err.Error(), tt.refuse) || !strings.Contains(err.Error(), tt.name)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.refuse)
		}
		if s != nil && tt.refuse != "" && s.Iter() > 0 {
			t.Errorf("%s: found at iteration %d", tt.name, s.Iter())
		}
	}
}
