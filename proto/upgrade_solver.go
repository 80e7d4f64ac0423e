package proto

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// solverTypes are the names of the deprecated enum's values.
var solverTypes = map[caffepb.SolverParameter_SolverType]string{
	caffepb.SolverParameter_SGD:      "SGD",
	caffepb.SolverParameter_NESTEROV: "Nesterov",
	caffepb.SolverParameter_ADAGRAD:  "AdaGrad",
	caffepb.SolverParameter_RMSPROP:  "RMSProp",
	caffepb.SolverParameter_ADADELTA: "AdaDelta",
	caffepb.SolverParameter_ADAM:     "Adam",
}

// UpgradeSolver replaces the enum solver_type by the string type; path is for the warnings.
func UpgradeSolver(p *caffepb.SolverParameter, path string) (warnings []string, err error) {
	if p.SolverType == nil {
		return nil, nil
	}
	if p.Type != nil {
		return nil, errors.New("the old solver_type and type are both given; use type")
	}
	p.Type = proto.String(solverTypes[p.GetSolverType()])
	p.SolverType = nil
	return []string{
		"Attempting to upgrade input SolverParameter specified using deprecated 'solver_type' field (enum): " + path,
		"Successfully upgraded file specified using deprecated 'solver_type' field (enum) to 'type' field (string).",
	}, nil
}

// upgradeSnapshotPrefix completes a snapshot_prefix as Caffe does. An empty one becomes the solver's path without extension; to a
// directory, the solver's file name without extension is added.
func upgradeSnapshotPrefix(p *caffepb.SolverParameter, path string) (warnings []string) {
	stem := path[:len(path)-len(filepath.Ext(path))]
	if p.SnapshotPrefix == nil {
		p.SnapshotPrefix = proto.String(stem)
		return []string{"snapshot_prefix was not specified and is set to " + stem}
	}
	info, err := os.Stat(p.GetSnapshotPrefix())
	if err != nil || !info.IsDir() {
		return nil
	}
	folder := strings.TrimSuffix(p.GetSnapshotPrefix(), "/") + "/" // not cleaned: states refer to weights by this path
	p.SnapshotPrefix = proto.String(folder + filepath.Base(stem))
	return []string{"snapshot_prefix was a directory and is replaced to " + p.GetSnapshotPrefix()}
}
