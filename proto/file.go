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
	text, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	return UnmarshalText(path, text, m)
}

// Net is a net as read from a file and upgraded to the current form.
type Net struct {
	Param    *caffepb.NetParameter
	Path     string
	Source   *Source // of the form in the file; nil for a binary file
	Warnings []string

	origin []int  // of the layers in the file, as in upgrader
	list   string // the field that has them there
}

// LayerPos returns file:line of layer i of Param; the file alone if it is binary or the layer does not stand in it, and for i = -1,
// the net as a whole.
func (n *Net) LayerPos(i int) string {
	if origin := n.LayerOrigin(i); origin >= 0 {
		return n.at(origin)
	}
	return n.Path
}

// at returns file:line of a layer of the file, or the file alone.
func (n *Net) at(origin int) string {
	return cmp.Or(n.Source.Pos(fmt.Sprintf("%s[%d]", n.list, origin)), n.Path)
}

// LayerOrigin returns which of the file's layers, counted from 0, layer i of Param comes from; -1 if the upgrade has added it.
func (n *Net) LayerOrigin(i int) int {
	if i < 0 || i >= len(n.origin) {
		return -1
	}
	return n.origin[i]
}

// ReadNet reads a net definition, text or binary, and upgrades old forms.
func ReadNet(path string) (*Net, error) {
	n := &Net{Param: &caffepb.NetParameter{}, Path: path, list: "layer"}
	data, err := readWhole(path)
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

// upgrade brings the net to the current form.
func (n *Net) upgrade() error {
	if len(n.Param.Layers) > 0 {
		n.list += "s"
	}
	u := newUpgrader(n.Param, n.Path)
	u.where = n.at
	err := u.run()
	n.Warnings, n.origin = u.warnings, u.origin
	return err
}

// isRather reports whether a text is a message of the other kind, to judge by its fields at the top, and reads it as that.
func (s *Source) isRather(text []byte, wanted, other proto.Message) bool {
	as, _ := UnmarshalText(s.File, text, other)
	return !s.hasOwn(wanted, other) && as.hasOwn(other, wanted)
}

// hasOwn reports whether the file has a field at the top that one message has and another one does not.
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

// notNet is the error for a solver where a net should be; it names the net that the solver trains.
func notNet(path string, solver *caffepb.SolverParameter) error {
	its := ""
	if net := cmp.Or(solver.GetNet(), solver.GetTrainNet()); net != "" {
		its = fmt.Sprintf("; it trains %s", net)
	}
	return fmt.Errorf("%s: a solver definition, where that of a net is needed%s", path, its)
}

// Solver is a solver as read from a file and upgraded to the current form.
type Solver struct {
	Param    *caffepb.SolverParameter
	Path     string
	Source   *Source
	Warnings []string
}

// ReadSolver reads a solver definition, upgrades old fields and completes its snapshot_prefix.
func ReadSolver(path string) (*Solver, error) {
	text, err := readWhole(path)
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

// UnmarshalSolver reads a solver definition and upgrades old fields; path is for messages.
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

// NetIn returns an upgraded copy of a net that stands in the solver's own file; field is where: "net_param", or
// "test_net_param[1]".
func (s *Solver) NetIn(field string, p *caffepb.NetParameter) (*Net, error) {
	n := &Net{Param: proto.CloneOf(p), Path: s.Path, Source: s.Source, list: field + ".layer"}
	if err := n.upgrade(); err != nil {
		return nil, err
	}
	return n, nil
}
