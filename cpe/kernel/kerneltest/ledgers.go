package kerneltest

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
)

// ChargesTheSame runs kernels on a functional and on a cost-only machine, and compares the ledgers.
func ChargesTheSame(t *testing.T, name string, run func(m *cpe.Machine) error) {
	t.Helper()
	ChargesTheSameOn(t, Machine(t, "sw26010", true).Spec(), name, run)
}

func ChargesTheSameOn(t *testing.T, spec cpe.Spec, name string, run func(m *cpe.Machine) error) {
	t.Helper()
	var ledgers [2]cpe.Ledger
	for i, mode := range []cpe.Mode{cpe.Functional, cpe.CostOnly} {
		m, err := cpe.New(spec, mode)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if err := run(m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ledgers[i] = m.Ledger()
	}
	if ledgers[0] != ledgers[1] {
		t.Errorf("%s: functional %+v, cost only %+v", name, ledgers[0], ledgers[1])
	}
	if ledgers[0].Time <= 0 || ledgers[0].GetBytes <= 0 {
		t.Errorf("%s: nothing was charged: %+v", name, ledgers[0])
	}
}

// Array returns an array of n values, or nil for a machine that moves no values.
func Array(m *cpe.Machine, n int) []float32 {
	if !m.Values() {
		return nil
	}
	return Values(n, 7)
}
