package solver

import (
	"math"
	"testing"
)

// TestSpaceForASnapshot: a solver that will write snapshots is refused if they cannot fit, with both sizes. A snapshot has the
// weights, the histories of the rule, and gradients for snapshot_diff.
func TestSpaceForASnapshot(t *testing.T) {
	const net = `net_param { layer { name: "d" type: "DummyData" top: "d" top: "t" dummy_data_param { shape { dim: 1 dim: 9 } shape { dim: 1 dim: 5 } } }
		layer { name: "ip" type: "InnerProduct" bottom: "d" top: "ip" inner_product_param { num_output: 5 } }
		layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "l" } } base_lr: 0.1 lr_policy: "fixed" `
	for _, tt := range []struct {
		fields string
		values float64 // of a snapshot
	}{
		{`type: "SGD"`, 2 * 50}, {`type: "Adam"`, 3 * 50}, {`type: "SGD" snapshot_diff: true`, 3 * 50},
		{`type: "SGD" test_iter: 1 test_interval: 1 snapshot_best: "l"`, 3 * 2 * 50},
		{`type: "SGD" test_iter: 1 test_interval: 1 snapshot_best: "l" snapshot_after_train: false`, 2 * 2 * 50},
		{`type: "SGD" snapshot_after_train: false`, 0}, {`type: "SGD" snapshot_after_train: false snapshot: 7`, 2 * 50},
	} {
		s, err := newSolver(t, "", net+tt.fields)
		if err != nil {
			t.Fatal(err)
		}
		for _, free := range []float64{0, 4*tt.values - 1, 4 * tt.values, math.Inf(1)} {
			err := s.checkSpace(func(string) (float64, bool) { return free, true })
			if enough := free >= 4*tt.values || tt.values == 0; (err == nil) != enough {
				t.Errorf("%s with %g bytes free: %v", tt.fields, free, err)
			}
		}
		if err := s.checkSpace(func(string) (float64, bool) { return 0, false }); err != nil {
			t.Errorf("%s where the system does not tell: %v", tt.fields, err)
		}
		s.Close()
	}
}
