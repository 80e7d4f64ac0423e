package proto

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ReadText reads a message from a prototxt.
func ReadText(path string, m proto.Message) (*Source, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return UnmarshalText(path, text, m)
}

// Net is a net read from a file and upgraded to the current form.
type Net struct {
	Param    *caffepb.NetParameter
	Path     string
	Source   *Source // positions of the fields as written in the file; nil for a binary file
	Warnings []string

	origin []int  // for each layer its index in the file, as in upgrader
	list   string // the field that holds the layers in the file
}

// LayerPos returns file:line of layer i of Param. It returns the file's name alone for a binary file, for a layer that is not in
// the file, and for i = -1, the whole net.
func (n *Net) LayerPos(i int) string {
	if origin := n.LayerOrigin(i); origin >= 0 {
		return n.pos(fmt.Sprintf("%s[%d]", n.list, origin))
	}
	return n.Path
}

// pos returns file:line of a field of the file, or the file's name alone.
func (n *Net) pos(field string) string { return cmp.Or(n.Source.Pos(field), n.Path) }

// LayerOrigin returns the index in the file of layer i of Param, from 0; -1 if the upgrade has added the layer.
func (n *Net) LayerOrigin(i int) int {
	if i < 0 || i >= len(n.origin) {
		return -1
	}
	return n.origin[i]
}

// ReadNet reads a net definition, text or binary, and upgrades old forms.
func ReadNet(path string) (*Net, error) {
	n := &Net{Param: &caffepb.NetParameter{}, Path: path, list: "layer"}
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	if LooksBinary(data) {
		err = unmarshalBinary(path, data, n.Param)
	} else {
		n.Source, err = UnmarshalText(path, data, n.Param)
		solver := &caffepb.SolverParameter{}
		if err != nil && n.Source.isRather(data, n.Param, solver) {
			return nil, notNet(path, solver)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := n.upgrade(); err != nil {
		return nil, err
	}
	return n, nil
}

// upgrade upgrades the net to the current form.
func (n *Net) upgrade() error {
	if len(n.Param.Layers) > 0 {
		n.list += "s"
	}
	u := newUpgrader(n.Param, n.Path)
	u.pos, u.list = n.pos, n.list
	err := u.run()
	n.Warnings, n.origin = u.warnings, u.origin
	return err
}

// isRather reports whether a text holds the message other rather than wanted, judging by its top-level fields, and reads it into
// other.
func (s *Source) isRather(text []byte, wanted, other proto.Message) bool {
	as, _ := UnmarshalText(s.File, text, other)
	return !s.hasOwn(wanted, other) && as.hasOwn(other, wanted)
}

// hasOwn reports whether the file has a top-level field that belongs to m but not to other.
func (s *Source) hasOwn(m, other proto.Message) bool {
	own, others := m.ProtoReflect().Descriptor().Fields(), other.ProtoReflect().Descriptor().Fields()
	for path := range s.at {
		name, _, _ := strings.Cut(path, "[")
		if own.ByName(protoreflect.Name(name)) != nil && others.ByName(protoreflect.Name(name)) == nil {
			return true
		}
	}
	return false
}

// notNet returns the error for a solver in place of a net. It names the net that the solver trains.
func notNet(path string, solver *caffepb.SolverParameter) error {
	its := ""
	if net := cmp.Or(solver.GetNet(), solver.GetTrainNet()); net != "" {
		its = fmt.Sprintf("; it trains %s", net)
	}
	return fmt.Errorf("%s: a solver definition, where that of a net is needed%s", path, its)
}

// Solver is a solver read from a file and upgraded to the current form.
type Solver struct {
	Param    *caffepb.SolverParameter
	Path     string
	Source   *Source
	Warnings []string
}

// ReadSolver reads a solver definition, upgrades old fields and completes its snapshot_prefix.
func ReadSolver(path string) (*Solver, error) {
	text, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := UnmarshalSolver(path, text)
	if err != nil {
		return nil, err
	}
	s.Warnings = append(s.Warnings, upgradeSnapshotPrefix(s.Param, path)...)
	return s, nil
}

// UnmarshalSolver reads a solver definition and upgrades old fields. path is used in messages.
func UnmarshalSolver(path string, text []byte) (*Solver, error) {
	if LooksBinary(text) {
		return nil, fmt.Errorf("%s: a binary file; a solver definition is text", path)
	}
	s := &Solver{Param: &caffepb.SolverParameter{}, Path: path}
	var err error
	if s.Source, err = UnmarshalText(path, text, s.Param); err != nil {
		if s.Source.isRather(text, s.Param, &caffepb.NetParameter{}) {
			return nil, fmt.Errorf("%s: a net definition, where that of a solver is needed: one with net: %q", path, path)
		}
		return nil, err
	}
	if s.Warnings, err = UpgradeSolver(s.Param, path); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Source.Pos("solver_type"), err)
	}
	return s, nil
}

// NetIn returns an upgraded copy of a net that is part of the solver's own file. field is its field: "net_param" or
// "test_net_param[1]".
func (s *Solver) NetIn(field string, p *caffepb.NetParameter) (*Net, error) {
	n := &Net{Param: proto.CloneOf(p), Path: s.Path, Source: s.Source, list: field + ".layer"}
	if err := n.upgrade(); err != nil {
		return nil, err
	}
	return n, nil
}
