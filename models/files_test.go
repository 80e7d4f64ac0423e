package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/modeltime"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestFiles: every model has a net for training, a solver, a net for classifying and a README, which states the number of
// parameters; and the weights of the one net load into the other.
func TestFiles(t *testing.T) {
	for _, model := range names(t) {
		t.Run(model, func(t *testing.T) {
			readme, err := os.ReadFile(filepath.Join("models", model, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			train, test := measure(t, model, trainVal, caffepb.Phase_TRAIN), measure(t, model, deploy, caffepb.Phase_TEST)
			if n := withCommas(test.Parameters); !strings.Contains(string(readme), n) {
				t.Errorf("the README does not state the number of weights, %s", n)
			}
			weights := map[string]modeltime.LayerSize{}
			for _, l := range train.Layers {
				weights[l.Name] = l
			}
			for _, l := range test.Layers {
				w := weights[l.Name]
				if l.Parameters+l.Statistics > 0 && (w.Type != l.Type || w.Parameters != l.Parameters || w.Statistics != l.Statistics) {
					t.Errorf("%s, layer %s: %s of %d weights and %d statistics; in %s %s of %d and %d", deploy, l.Name,
						l.Type, l.Parameters, l.Statistics, trainVal, w.Type, w.Parameters, w.Statistics)
				}
			}
			if train.Parameters != test.Parameters && model != "googlenet" { // which leaves its heads out
				t.Errorf("%d weights in %s, %d in %s", train.Parameters, trainVal, test.Parameters, deploy)
			}
		})
	}
}

// TestSolvers: a solver trains the net beside it and puts its snapshots there, under a name that no other solver uses.
func TestSolvers(t *testing.T) {
	prefixes := map[string]string{}
	for _, path := range solvers(t) {
		s, err := swproto.ReadSolver(path)
		if err != nil {
			t.Error(err)
			continue
		}
		dir := filepath.Dir(path)
		if filepath.Dir(s.Param.GetNet()) != dir || filepath.Dir(s.Param.GetSnapshotPrefix()) != dir {
			t.Errorf("%s: net %s, snapshot_prefix %s", path, s.Param.GetNet(), s.Param.GetSnapshotPrefix())
		}
		if other, ok := prefixes[s.Param.GetSnapshotPrefix()]; ok {
			t.Errorf("%s and %s have the same snapshot_prefix", path, other)
		}
		prefixes[s.Param.GetSnapshotPrefix()] = path
	}
}

// solvers lists the solvers of all models; a model may have several.
func solvers(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("models/*/*solver*.prototxt")
	if err != nil || len(paths) < len(names(t)) {
		t.Fatalf("%d solvers, error %v", len(paths), err)
	}
	return paths
}
