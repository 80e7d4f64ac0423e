package validation_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/validation"
)

// productShare is the share of a core group's peak, in percent, of a square product.
func productShare(t *testing.T, spec cpe.Spec, n int) float64 {
	t.Helper()
	spec.CoreGroups = 1
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	g, err := gemm.NewBlocked(m, gemm.Shape{M: n, N: n, K: n})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(nil, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	return 100 * m.Ledger().Flops / m.Ledger().Time.Seconds() / 1e9 / spec.PeakGFlops()
}

// TestProductRates: square products of 2048 in single and in half precision reach what was published of the SW26010-Pro. The sizes behind the
// published shares are not known; those of 1024 and 4096 stand beside it.
func TestProductRates(t *testing.T) {
	spec := parsed(t, "")
	half, err := spec.InHalf()
	if err != nil {
		t.Fatal(err)
	}
	var points validation.Points
	for name, s := range map[string]cpe.Spec{"gemm_single": spec, "gemm_half": half} {
		row, err := validation.Rate(name)
		if err != nil {
			t.Fatal(err)
		}
		got := productShare(t, s, 2048)
		points.Add(name, got, row.Published)
		t.Logf("%s: %.1f %% of 1024, %.1f of 2048, %.1f of 4096; published %g", name, productShare(t, s, 1024), got, productShare(t, s, 4096), row.Published)
		if !row.Holds(got) {
			t.Errorf("%s: %.1f %%, published %g", name, got, row.Published)
		}
	}
	t.Logf("percent of the peak\n%v", points)
}
