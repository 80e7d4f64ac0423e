package solver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/caffeh5"
	"github.com/swcaffe/swcaffe/solver/rules"
	"google.golang.org/protobuf/proto"
)

// Snapshot writes PREFIX_iter_N.caffemodel and PREFIX_iter_N.solverstate, with the suffix .h5 for snapshot_format HDF5. Each file is
// written in full or not at all: after a full disk or a kill, earlier snapshots are intact. If workers differ, each also writes
// PREFIX_iter_N.worker_RANK. All workers of a team call Snapshot.
func (v *Solver) Snapshot() error {
	v.footing.take(v, v.iter)
	return v.store(v.snapshotBase(), v.param.GetSnapshotDiff())
}

// store writes a snapshot of the footing, with gradients or without, to files whose names begin with base.
func (v *Solver) store(base string, diff bool) error {
	err := v.keepOwn(base)
	if err == nil && (v.alone || v.team.rank() == 0) {
		err = v.strategy.shown(func() error { return v.writeSnapshot(base, diff) })
	}
	if err != nil {
		return &snapshotError{v.iter, err}
	}
	return nil
}

// snapshotError says that a snapshot could not be written.
type snapshotError struct {
	iter int
	err  error
}

func (e *snapshotError) Error() string {
	return fmt.Sprintf("snapshot at iteration %d: %v", e.iter, e.err)
}

func (e *snapshotError) Unwrap() error { return e.err }

// snapshotMark separates snapshot_prefix and the iteration in the names of a snapshot's files.
const snapshotMark = "_iter_"

// snapshotBase returns the common start of the names of a snapshot's files.
func (v *Solver) snapshotBase() string {
	return fmt.Sprint(v.param.GetSnapshotPrefix(), snapshotMark, v.iter)
}

// stateFile returns the name of the state of a snapshot whose files' names begin with base.
func (v *Solver) stateFile(base string) string {
	if v.param.GetSnapshotFormat() == caffepb.SolverParameter_HDF5 {
		return base + ".solverstate.h5"
	}
	return base + ".solverstate"
}

// writeSnapshot writes weights and state to files whose names begin with base.
func (v *Solver) writeSnapshot(base string, diff bool) error {
	if err := v.persist(func() error { return v.writeFiles(base, "", diff) }); err != nil {
		return err
	}
	v.report.wrote(v.stateFile(base))
	v.lastState, v.lastIter = v.stateFile(base), v.iter
	return nil
}

// writeFiles writes weights, with gradients or without, and then the state to files whose names begin with base and mark. In the state, the
// weights have the name that they have without mark. On a full disk, weights of an earlier snapshot whose state could not be written make room for the
// next attempt.
func (v *Solver) writeFiles(base, mark string, diff bool) (err error) {
	model, state := v.weightsFile(base+mark), v.stateFile(base+mark)
	for _, path := range []string{model, state} {
		if err := swproto.CheckReplaceable(path); err != nil {
			return err
		}
	}
	if mark == "" {
		defer func(earlier string) { v.makeRoom(earlier, model, err) }(v.stateless)
	}
	format, writeWeights, writeState := "binary proto", v.writeBinaryWeights, func(path string, s *caffepb.SolverState) error { return v.write(path, s) }
	if v.param.GetSnapshotFormat() == caffepb.SolverParameter_HDF5 {
		format, writeWeights, writeState = "HDF5", v.writeHDF5Weights, caffeh5.WriteState
	}
	v.log.Infof("Snapshotting to %s file %s", format, v.weightsFile(base))
	if err := writeWeights(model, diff); err != nil {
		return err
	}
	if mark == "" {
		v.stateless = model
	}
	v.log.Infof("Snapshotting solver state to %s file %s", format, v.stateFile(base))
	if err := writeState(state, v.stateProto(v.weightsFile(base))); err != nil {
		return err
	}
	if mark == "" {
		v.stateless = ""
	}
	return nil
}

// makeRoom removes the weights of an earlier snapshot whose state could not be written, if another snapshot of weights then fails by a full disk.
func (v *Solver) makeRoom(earlier, model string, failed error) {
	full := errors.Is(failed, syscall.ENOSPC) || errors.Is(failed, syscall.EDQUOT)
	if !full || earlier == "" || earlier == model {
		return
	}
	if err := os.Remove(earlier); err == nil {
		v.log.Infof("Removed %s, which has no state, to make room for later weights", earlier)
	}
	if v.stateless == earlier {
		v.stateless = ""
	}
}

func (v *Solver) writeBinaryWeights(path string, diff bool) error {
	return v.write(path, v.net.ToProto(diff))
}

func (v *Solver) writeHDF5Weights(path string, diff bool) error {
	return caffeh5.WriteWeights(path, v.net, diff)
}

// stateProto returns the solver's state in Caffe's layout: the first history of every weight, then the second of every weight. RunState, a
// field that Caffe skips, has the rest of what a bit-equal continuation needs.
func (v *Solver) stateProto(model string) *caffepb.SolverState {
	s := &caffepb.SolverState{LearnedNet: proto.String(model), RunState: &caffepb.RunState{Seed: proto.Uint64(v.seed), SolverType: proto.String(v.param.GetType())}}
	v.footing.store(s)
	for k := range v.update.rule.Histories() {
		for _, w := range v.update.weights {
			s.History = append(s.History, w.histories[k].ToProto(false))
		}
	}
	return s
}

// namedNet is a net with its name in snapshots.
type namedNet struct {
	name string
	*swnet.Net
}

// nets lists the nets whose positions a snapshot stores.
func (v *Solver) nets() []namedNet {
	nets := []namedNet{{"train", v.net}}
	for k, n := range v.testNets {
		nets = append(nets, namedNet{fmt.Sprintf("test %d", k), n})
	}
	return nets
}

// devices lists the devices of the training nets.
func (v *Solver) devices() []*layers.Device {
	all := []*layers.Device{v.device}
	for _, r := range v.group.others {
		all = append(all, r.device)
	}
	return all
}

// positions visits the layers of some nets that read a stream of items.
func (v *Solver) positions(nets []namedNet, visit func(net, layer string, p layers.Positioner) error) error {
	for _, n := range nets {
		for i := range n.NumLayers() {
			if p, ok := n.Layer(i).(layers.Positioner); ok {
				if err := visit(n.name, n.LayerName(i), p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Restore continues from a .solverstate file and the weights it names. For a state without RunState, as Caffe writes it, the data layers
// start at their first item, as in Caffe.
func (v *Solver) Restore(path string) error {
	v.log.Infof("Restoring previous solver status from %s", path)
	state, err := openState(path)
	if err != nil {
		return err
	}
	defer state.Close()
	if state.LearnedNet != nil {
		if err := v.loadLearnedNet(path, state.GetLearnedNet()); err != nil {
			return err
		}
	}
	if err := v.setState(state); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	v.origin = path
	return v.readOwn(path, state.RunState.GetSeed())
}

// setState sets all of a state but the weights.
func (v *Solver) setState(state *swproto.State) error {
	if err := v.setHistory(state); err != nil {
		return err
	}
	v.iter, v.step = int(state.GetIter()), int(state.GetCurrentStep())
	v.best.regain(state.RunState, v.iter)
	if state.RunState == nil {
		return nil
	}
	return v.setRunState(state.RunState)
}

// learnedNet returns the path of the weights that a state names: if they are not there, that of a file of this name in the state's folder.
func learnedNet(statePath, model string) string {
	if _, err := os.Stat(model); os.IsNotExist(err) {
		beside := filepath.Join(filepath.Dir(statePath), filepath.Base(model))
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return model
}

// loadLearnedNet reads the weights that a state names.
func (v *Solver) loadLearnedNet(statePath, model string) error {
	model = learnedNet(statePath, model)
	v.log.Infof("Finetuning from %s", model)
	w, err := loadFile(v.net, model, v.log)
	if err == nil && len(w.Param.Layer) == 0 && len(v.net.Learnable()) > 0 {
		err = fmt.Errorf("%s: no weights: the file has no layers, so that the training that %s kept cannot go on", model, statePath)
	}
	return err
}

func (v *Solver) setHistory(stored *swproto.State) error {
	u := v.update
	if of, kind := stored.GetRunState().GetSolverType(), v.param.GetType(); of != "" && !rules.SameHistories(of, kind) {
		return fmt.Errorf("the state is of a solver of type %s, whose histories mean something else than those of %s: -weights %s goes on from the weights alone", of, kind, stored.GetLearnedNet())
	}
	if want := u.rule.Histories() * len(u.weights); len(stored.History) != want {
		return fmt.Errorf("incorrect length of history blobs: %d stored, the solver (%s) needs %d", len(stored.History), v.param.GetType(), want)
	}
	for i, p := range stored.History {
		w := u.weights[i%len(u.weights)]
		h := w.histories[i/len(u.weights)]
		if !h.SameShape(p) {
			return fmt.Errorf("history %d, of layer %q, has shape mismatch: the stored shape differs from %s", i, w.weight.Layer, h.ShapeString())
		}
		if err := h.Load(p, stored.Stored); err != nil {
			return fmt.Errorf("history %d, of layer %q: %w", i, w.weight.Layer, err)
		}
	}
	return nil
}

func (v *Solver) setRunState(r *caffepb.RunState) error {
	for _, d := range v.devices() {
		if err := d.Random.SetState(r.RandomState); err != nil {
			return err
		}
	}
	for i, state := range r.TestRandomState[:min(len(r.TestRandomState), len(v.testDevices))] {
		if err := v.testDevices[i].Random.SetState(state); err != nil {
			return err
		}
	}
	items, nets := map[[2]string]uint64{}, v.nets()
	for _, p := range r.Position {
		items[[2]string{p.GetNet(), p.GetLayer()}] = p.GetItems()
	}
	for _, other := range v.group.others {
		nets = append(nets, namedNet{"train", other.net})
	}
	if v.team.rank() == 0 {
		v.setLayerStates(r.LayerState)
	}
	return v.positions(nets, func(net, layer string, p layers.Positioner) error {
		if n, ok := items[[2]string{net, layer}]; ok {
			if err := p.SetPosition(n); err != nil {
				return fmt.Errorf("layer %q of the %s net: %w", layer, net, err)
			}
		}
		return nil
	})
}

// CheckWritable returns an error, with the place in the solver's file, if its snapshots could not be written.
func CheckWritable(file *swproto.Solver) error {
	prefix := SnapshotPrefix(file)
	if err := swproto.CheckWritable(fmt.Sprint(prefix, snapshotMark, file.Param.GetMaxIter(), ".solverstate.h5")); err != nil {
		return inFile(file, wrong("snapshot_prefix", "cannot write to snapshot prefix %q: make sure that the directory exists and is writeable (%w)", prefix, err))
	}
	return nil
}
