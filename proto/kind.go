package proto

import "github.com/swcaffe/swcaffe/proto/caffepb"

// IsSolver reports whether a file is the definition of a solver rather than that of a net, judging by its top-level fields. Files
// with neither's own fields are taken for nets.
func IsSolver(path string) (bool, error) {
	text, err := ReadFile(path)
	if err != nil || LooksBinary(text) {
		return false, err
	}
	net := &caffepb.NetParameter{}
	source, _ := UnmarshalText(path, text, net) // faults are reported by ReadNet or ReadSolver
	return source.isRather(text, net, &caffepb.SolverParameter{}), nil
}
