package proto

import (
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// FuzzUpgrade upgrades whatever is a net or a solver. What comes out has no old form left, and its text reads back as the
// same message.
func FuzzUpgrade(f *testing.F) {
	for _, c := range readSections(f, "testdata/upgrade.txt") {
		f.Add(c.input)
	}
	f.Fuzz(func(t *testing.T, text string) {
		net := &caffepb.NetParameter{}
		if _, err := UnmarshalText("file", []byte(text), net); err == nil {
			if _, err := UpgradeNet(net, "file"); err == nil {
				upgradedForGood(t, net)
				readsBack(t, net, &caffepb.NetParameter{})
			}
		}
		solver := &caffepb.SolverParameter{}
		if _, err := UnmarshalText("file", []byte(text), solver); err == nil {
			if _, err := UpgradeSolver(solver, "file"); err == nil {
				if solver.SolverType != nil {
					t.Error("solver_type is still there")
				}
				readsBack(t, solver, &caffepb.SolverParameter{})
			}
		}
	})
}

// upgradedForGood demands that a second upgrade changes nothing.
func upgradedForGood(t *testing.T, net *caffepb.NetParameter) {
	t.Helper()
	if len(net.Layers) > 0 || len(net.Input) > 0 {
		t.Errorf("%d old layers and %d inputs are left", len(net.Layers), len(net.Input))
	}
	before := proto.Clone(net)
	if _, err := UpgradeNet(net, "file"); err != nil {
		t.Errorf("a second upgrade fails: %v", err)
	}
	if !proto.Equal(before, net) {
		t.Errorf("a second upgrade changes the net:\n%s\nit was\n%s", MarshalText(net), MarshalText(before))
	}
}

func readsBack(t *testing.T, m, again proto.Message) {
	t.Helper()
	text := MarshalText(m)
	if _, err := UnmarshalText("printed", text, again); err != nil {
		t.Errorf("the printed form is refused: %v\n%s", err, text)
	} else if !proto.Equal(m, again) {
		t.Errorf("the printed form\n%s\nreads back as\n%s", text, MarshalText(again))
	}
}
