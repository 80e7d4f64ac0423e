package solver

import (
	"fmt"
	"os"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/caffeh5"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"github.com/swcaffe/swcaffe/solver/rules"
)

// check validates the fields of the solver's file that can be checked without a net.
func (v *Solver) check(found *faults) {
	p := v.param
	for _, err := range checkCounts(p) {
		found.field(v.file, err)
	}
	_, noRule := rules.Find(p)
	for _, err := range []error{rules.CheckPolicy(p), v.readEvaluation(), checkBest(p), noRule, rules.CheckRegularization(p)} {
		found.field(v.file, err)
	}
	if p.GetSolverMode() == caffepb.SolverParameter_GPU && p.SolverMode != nil && v.team.rank() == 0 {
		v.log.Warn("solver_mode: GPU: there is no GPU in this build; the solver runs on CPUs")
	}
	if p.SnapshotPrefix == nil {
		prefix := SnapshotPrefix(v.file)
		p.SnapshotPrefix = &prefix
	}
	if v.Snapshots() {
		found.add(CheckWritable(v.file))
	}
}

// makeNets makes the training net and the test nets. It goes on after a net with faults, to find those of the others.
func (v *Solver) makeNets(found *faults) {
	train, err := trainNet(v.file)
	found.field(v.file, err)
	tests, testErr := testNets(v.file)
	if err == nil {
		found.field(v.file, testErr)
		v.makeTrainNet(train, found)
	}
	switch {
	case v.testers() != nil:
		v.agree = v.team.NewReducer(1, false)
	case v.team.rank() > 0:
		return
	}
	v.makeTestNets(tests, found)
	if len(v.testNets) == len(tests) {
		found.field(v.file, v.findBest())
	}
	if found.err() == nil {
		v.log.Info("Solver scaffolding done.")
	}
}

// makeTrainNet makes the training net, and its replicas on further core groups.
func (v *Solver) makeTrainNet(train netSource, found *faults) {
	v.log.Infof("Creating training net from %v.", train)
	v.device = v.newDevice(v.seed)
	v.device.Share = v.share(0)
	histories := 0
	if r, err := rules.Find(v.param); err == nil {
		histories = r.Histories()
	}
	n, err := train.build(swnet.Options{Device: v.device, Economise: true, Arena: v.arena, Budget: &v.budget, WeightCopies: 2 + histories})
	if err != nil {
		found.add(err)
		return
	}
	v.net = n
	found.add(n.CheckBackward())
	v.warnDivided(n)
	if v.param.GetSnapshotFormat() == caffepb.SolverParameter_HDF5 {
		if err := caffeh5.Check(n); err != nil {
			found.field(v.file, wrong("snapshot_format", "snapshot_format: HDF5: %w", err))
		}
	}
	v.group = group{net: n, part: 1}
	found.add(v.addReplicas(train))
}

// noCopies are the values for a weight of a net that has another one's weights while it runs.
const noCopies = -1

func (v *Solver) makeTestNets(tests []netSource, found *faults) {
	for i, t := range tests {
		v.log.Infof("Creating test net (#%d) specified by %v", i, t)
		opt := swnet.Options{Device: v.newDevice(v.seed + uint64(i) + 1), Economise: true, Arena: v.arena, ForwardOnly: true, Changing: true, Budget: &v.budget, WeightCopies: noCopies}
		opt.Device.Share = v.testShare()
		v.testDevices = append(v.testDevices, opt.Device)
		n, err := t.build(opt)
		if err != nil {
			found.add(err)
			continue
		}
		n.SetDebugInfo(v.param.GetDebugInfo())
		v.testNets = append(v.testNets, n)
		if err := v.evaluation.CheckOutputs(n); err != nil {
			found.add(fmt.Errorf("test net #%d: %w", i, err))
			continue
		}
		v.scorers = append(v.scorers, evaluate.NewScorer(n, v.testers()))
		repeated, err := evaluate.Repetitions(n, int(v.param.TestIter[i]), false)
		found.add(err)
		for _, r := range repeated {
			v.log.Warn(r.Text("test_iter"))
		}
	}
}

// build makes the nets with their weights, on all workers or on none, and then the exchange and the update. found has the faults of the
// file's fields.
func (v *Solver) build(found *faults) error {
	v.fillNets(found)
	if doubt := v.budget.Doubt(); doubt != "" && v.team.rank() == 0 {
		v.log.Warn(doubt)
	}
	if err := v.team.consent(found.err()); err != nil {
		return err
	}
	if err := v.makeUpdate(); err != nil {
		return inFile(v.file, err)
	}
	if err := v.tidy(); err != nil {
		return inFile(v.file, err)
	}
	return nil
}

// fillNets makes the nets and loads the weights that the weights field names. Without a training net it only looks for the weights' files.
func (v *Solver) fillNets(found *faults) {
	v.makeNets(found)
	for _, list := range v.param.Weights {
		paths, err := weightFiles(list)
		found.add(ofNamed(v.file, "weights", err))
		for _, path := range paths {
			if v.net == nil {
				_, err = os.Stat(path)
			} else {
				v.log.Infof("Finetuning from %s", path)
				_, err = loadFile(v.net, path, v.log)
			}
			found.add(ofNamed(v.file, "weights", err))
		}
	}
	if v.net != nil {
		found.field(v.file, v.checkSpace(swproto.FreeBytes))
	}
}

// makeUpdate prepares the exchange with other workers and core groups, and the update.
func (v *Solver) makeUpdate() (err error) {
	if v.shared() {
		if err := v.group.prepare(v.share(0), headSize); err != nil {
			return err
		}
	}
	if v.strategy, err = v.newStrategy(); err != nil {
		return err
	}
	v.watch = newStopwatch(v.team, v.param.GetIterSize())
	v.overlap, _ = v.strategy.(overlapping)
	v.update, err = newUpdater(v.param, v.net, v.device)
	return err
}
