package validation

import (
	"math"
	"testing"
)

// TestSwDNN: the closed form gives the required bandwidths and performances of the paper's table III within 1 %.
func TestSwDNN(t *testing.T) {
	rows, err := Read("swdnn.csv")
	if err != nil {
		t.Fatal(err)
	}
	var points Points
	for _, r := range rows {
		m := SwDNN{
			Peak: 742.4, MemoryBW: r.Float("mbw"), Ni: r.Int("ni"), No: r.Int("no"), B: r.Int("batch"), Kc: 3,
			BB: r.Int("bb"), BCo: r.Int("bco"),
		}
		points.Add(r["plan"]+" required bandwidth", m.RequiredBW(), r.Float("rbw"))
		points.Add(r["plan"]+" performance", m.Performance(), r.Float("model"))
	}
	for _, p := range points {
		if math.Abs(p.Error()) > 0.01 {
			t.Errorf("%s: %.4g, published %.4g", p.Name, p.Modelled, p.Published)
		}
	}
	t.Logf("\n%v", points)
}

// TestSpearman: ranks count, not figures; ties share ranks.
func TestSpearman(t *testing.T) {
	for _, c := range []struct {
		modelled, published []float64
		n                   int
		want                float64
	}{
		{[]float64{1, 20, 300}, []float64{1, 2, 3}, 3, 1},
		{[]float64{3, 2, 1}, []float64{1, 2, 3}, 3, -1},
		{[]float64{1, 3, 2, 9}, []float64{4, 3, 2, 1}, 3, -0.5},
		{[]float64{1, 1, 2}, []float64{1, 2, 3}, 3, math.Sqrt(3) / 2},
	} {
		var p Points
		for i := range c.modelled {
			p.Add("", c.modelled[i], c.published[i])
		}
		if got := p.Spearman(c.n); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v against %v: %g, want %g", c.modelled, c.published, got, c.want)
		}
	}
}

// TestMedianError: the median is over magnitudes, and points that were not published do not count.
func TestMedianError(t *testing.T) {
	var p Points
	p.Add("a", 11, 10)
	p.Add("b", 5, 10)
	p.Add("c", 5, math.NaN())
	if got := p.MedianError(); math.Abs(got-0.3) > 1e-12 {
		t.Errorf("median %g of 0.1 and 0.5, want 0.3", got)
	}
}
