package models_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// modelledVariable asks a process of allChoices for the modelled machines.
const modelledVariable = "SWCAFFE_MODELS_MODELLED"

// choice is the algorithm of a layer's direction, of a net as Setting says, on what Column says.
type choice struct{ Table, Setting, Layer, Direction, Column, Algorithm string }

// setting is a net and how it is planned.
type setting struct {
	path     string
	phase    caffepb.Phase
	batch    int // 0: the file's
	strategy shape.Strategy
	bf16     bool // factors may be rounded, on this computer
}

// table is the name of the table that a setting belongs to: the model's, or the file's of a net beside the tables.
func (s *setting) table() string {
	if strings.HasPrefix(s.path, "models/") {
		return filepath.Base(filepath.Dir(s.path))
	}
	return strings.TrimSuffix(filepath.Base(s.path), ".prototxt")
}

// String names a setting within its table, as train, test.1 or deploy.explicit.
func (s *setting) String() string {
	name := strings.ToLower(s.phase.String())
	if base := strings.TrimSuffix(filepath.Base(s.path), ".prototxt"); strings.HasSuffix(base, "deploy") {
		name = base
	} else if prefix, ok := strings.CutSuffix(base, "train_val"); ok {
		name = prefix + name
	}
	if s.batch > 0 {
		name += fmt.Sprint(".", s.batch)
	}
	if s.strategy != shape.Auto {
		name += "." + s.strategy.String()
	}
	if s.bf16 {
		name += ".bf16"
	}
	return name
}

// forced are the nets that are also planned with every strategy that a user can force.
var forced = []string{"alexnet", "cifar10_resnet8", "convolutions"}

// rounded are the nets that are also planned with factors in bfloat16.
var rounded = []string{"alexnet", "resnet50", "cifar10_mobilenet_v2", "cifar10_resnet8"}

// settings lists all nets: at their own batch, at a batch of one and, some of them, with factors in bfloat16 or with forced strategies.
func settings() ([]setting, error) {
	zoo, err := filepath.Glob("models/*/*.prototxt")
	if err != nil {
		return nil, err
	}
	here, err := filepath.EvalSymlinks("models")
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob(filepath.Join(filepath.Dir(here), "testdata", "algorithms", "*.prototxt"))
	if err != nil {
		return nil, err
	}
	var all []setting
	for _, path := range append(zoo, more...) {
		if strings.Contains(filepath.Base(path), "solver") {
			continue
		}
		phases := []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST}
		if strings.HasSuffix(path, deploy) {
			phases = phases[1:]
		}
		for _, phase := range phases {
			own := setting{path: path, phase: phase}
			one := own
			one.batch = 1
			all = append(all, own, one)
			if slices.Contains(rounded, own.table()) {
				own, one := own, one
				own.bf16, one.bf16 = true, true
				all = append(all, own, one)
			}
			if !slices.Contains(forced, own.table()) || phase != caffepb.Phase_TRAIN {
				continue
			}
			for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit, shape.Winograd} {
				own.strategy = st
				all = append(all, own)
			}
		}
	}
	return all, nil
}

// column is a kind of machine in the tables.
type column struct {
	name string
	spec cpe.Spec
	all  bool // all settings, not only training at the file's batch
}

// deep are nets whose many layers take long to plan on machines without a mesh.
var deep = []string{"googlenet", "resnet50", "vgg16", "vgg19"}

// has reports whether the column has a setting.
func (c *column) has(s *setting) bool {
	if s.bf16 && !c.spec.Native() {
		return false
	}
	mesh := c.spec.Rows*c.spec.Cols > 1
	return c.all || s.phase == caffepb.Phase_TRAIN && s.batch == 0 && (mesh || s.strategy == shape.Auto && !slices.Contains(deep, s.table()))
}

// modelledColumns are all machines but this computer, and the SW26010 with the programs of publications.
func modelledColumns() ([]column, error) {
	var list []column
	for _, name := range cpe.Names() {
		spec, err := cpe.Load(name)
		if err != nil {
			return nil, err
		}
		if spec.Native() {
			continue
		}
		list = append(list, column{name, spec, name == "sw26010"})
		if name != "sw26010" {
			continue
		}
		for _, software := range cpe.Softwares()[1:] {
			if software == "swcaffe-source" || software == "swcaffe-2017" { // they have the algorithms of swcaffe-2018
				continue
			}
			published, err := spec.WithSoftware(software)
			if err != nil {
				return nil, err
			}
			list = append(list, column{name + ":" + software, published, false})
		}
	}
	return list, nil
}

// thisComputer is the host with caches of one size everywhere, since choices depend on them.
func thisComputer(groups int) (cpe.Spec, error) {
	spec, err := cpe.Load("host")
	spec.CoreGroups, spec.L1Bytes, spec.LDMBytes, spec.L3Bytes = groups, 32<<10, 1<<20, 32<<20
	return spec, err
}

// planAll plans all settings for this computer at a vector level, and maybe for the modelled machines, all machines at the same time.
func planAll(level string, modelled bool) ([]choice, error) {
	list, err := settings()
	if err != nil {
		return nil, err
	}
	var columns []column
	if modelled {
		if columns, err = modelledColumns(); err != nil {
			return nil, err
		}
	}
	found, errs := make([][]choice, len(columns)+1), make([]error, len(columns)+1)
	var wait sync.WaitGroup
	wait.Go(func() { found[len(columns)], errs[len(columns)] = planHost(list, level) })
	for i := range columns {
		wait.Go(func() { found[i], errs[i] = planColumn(list, &columns[i]) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(found...), nil
}

// planHost plans all settings for two core groups, and checks that one and three choose the same.
func planHost(list []setting, level string) ([]choice, error) {
	var all [3][]choice
	for i, groups := range [...]int{2, 1, 3} {
		spec, err := thisComputer(groups)
		if err != nil {
			return nil, err
		}
		if all[i], err = planColumn(list, &column{level, spec, true}); err != nil {
			return nil, err
		}
		if len(all[i]) != len(all[0]) {
			return nil, fmt.Errorf("%d choices for %d core groups, %d for two", len(all[i]), groups, len(all[0]))
		}
		for k, c := range all[i] {
			if shared(c.Algorithm) != shared(all[0][k].Algorithm) {
				return nil, fmt.Errorf("%d core groups: %+v, but two: %+v", groups, c, all[0][k])
			}
		}
	}
	return all[0], nil
}

// shared leaves out how core groups share a product whose operands are packed, which is all that may depend on their number.
func shared(algorithm string) string {
	return strings.NewReplacer(string(gemm.Dynamic), "packed", string(gemm.Packed), "packed").Replace(algorithm)
}

// planColumn plans the settings of a column.
func planColumn(list []setting, c *column) ([]choice, error) {
	mode := cpe.CostOnly
	if c.spec.Native() {
		mode = cpe.Planned
	}
	m, err := cpe.New(c.spec, mode)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	rounding, err := cpe.New(c.spec.RoundingFactors(), mode)
	if err != nil {
		return nil, err
	}
	defer rounding.Close()
	var all []choice
	for i := range list {
		s, on := &list[i], m
		if !c.has(s) {
			continue
		}
		if s.bf16 {
			on = rounding
		}
		n, err := planNet(s, on)
		if err != nil {
			return nil, fmt.Errorf("%s, %v on %s: %w", s.path, s, c.name, err)
		}
		all = append(all, choicesOf(n, s, c.name)...)
		n.Close()
	}
	return all, nil
}

// netFiles are the nets that readOnce has read, by path.
var netFiles sync.Map

// readOnce reads a net's file, which all columns and settings share.
func readOnce(path string) (*swproto.Net, error) {
	read, _ := netFiles.LoadOrStore(path, sync.OnceValues(func() (*swproto.Net, error) { return swproto.ReadNet(path) }))
	return read.(func() (*swproto.Net, error))()
}

// planNet builds a net, as training or, in phase TEST, classifying does.
func planNet(s *setting, m *cpe.Machine) (*swnet.Net, error) {
	file, err := readOnce(s.path)
	if err != nil {
		return nil, err
	}
	p := proto.CloneOf(file.Param)
	if s.batch > 0 {
		if err := modeltime.SetBatch(p, s.batch); err != nil {
			return nil, err
		}
	}
	return swnet.New(p, swnet.Options{
		State:     swnet.MergeState(s.phase, &caffepb.NetState{Stage: []string{synthetic, "test-on-test"}}),
		Device:    &layers.Device{Machine: m, Random: layers.NewRandom(1), Force: op.Force{Family: s.strategy}},
		Economise: m.Native(), ForwardOnly: s.phase == caffepb.Phase_TEST,
	})
}

// choicesOf lists the algorithms of a net's layers.
func choicesOf(n *swnet.Net, s *setting, column string) []choice {
	var all []choice
	for i := range n.NumLayers() {
		for d := range shape.Direction(3) {
			algorithm := string(n.Algorithm(i, d))
			if algorithm == "" {
				continue
			}
			all = append(all, choice{s.table(), s.String(), n.LayerName(i), d.String(), column, algorithm})
		}
	}
	return all
}
