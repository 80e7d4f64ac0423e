package modelplot

import (
	"bytes"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/modeltime"
	"github.com/swcaffe/swcaffe/modeltime/trust"
)

func load(t *testing.T, name string) cpe.Spec {
	t.Helper()
	s, err := cpe.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// report describes a net with a convolution in three passes, a layer without computation and a layer that only runs forward.
func report() *modeltime.Report {
	pass := func(ms, gflops float64, bytes int64) *modeltime.Direction {
		return &modeltime.Direction{Strategy: "explicit", ModelledMs: ms, GFlops: gflops, DMABytes: bytes, MemoryBytes: bytes}
	}
	forward := pass(10, 1000, 1e9)
	forward.GFlopsRange = trust.Range{Low: 800, High: 1100}
	return &modeltime.Report{
		Model: "net", Machine: "sw26010", Batch: 3, CoreGroups: 4,
		Layers: []modeltime.Layer{
			{Name: "conv", Type: "Convolution", Forward: forward, WeightGradient: pass(20, 500, 1e8), InputGradient: pass(5, 200, 1e7)},
			{Name: "copy", Type: "Split", InputGradient: pass(1, 0, 1e6)},
			{Name: "relu", Type: "ReLU", Forward: pass(1, 10, 1e8)},
		},
	}
}

// TestDots: operations a byte are GFLOP/s x ms over the bytes, the longest pass comes first, and what computes nothing has no place.
func TestDots(t *testing.T) {
	dots := dotsOf(report())
	want := []dot{
		{"conv weights", "Convolution", 1, 100, 500, 20, 500, 500}, {"conv forward", "Convolution", 0, 10, 1000, 10, 800, 1100},
		{"conv input", "Convolution", 2, 100, 200, 5, 200, 200}, {"relu forward", "ReLU", 0, 0.1, 10, 1, 10, 10},
	}
	if len(dots) != len(want) {
		t.Fatalf("dots %+v", dots)
	}
	for i, d := range dots {
		if w := want[i]; math.Abs(d.intensity-w.intensity) > 1e-9 {
			t.Errorf("%s: %g FLOP/byte, want %g", d.name, d.intensity, w.intensity)
		}
		if d.intensity = want[i].intensity; d != want[i] {
			t.Errorf("dot %d: %+v, want %+v", i, d, want[i])
		}
	}
	if names := kinds(dots); !slices.Equal(names, []string{"Convolution", "ReLU"}) {
		t.Errorf("kinds %v", names)
	}
}

// TestLongest: equal layers share a name; passes that only lie close do not.
func TestLongest(t *testing.T) {
	dots := []dot{
		{"a input", "Convolution", 2, 10, 100, 9, 0, 0}, {"b input", "Convolution", 2, 10.1, 101, 8, 0, 0}, {"b weights", "Convolution", 1, 10, 100, 7, 0, 0},
		{"c input", "Convolution", 2, 10, 120, 6, 0, 0}, {"d input", "Convolution", 2, 10, 99, 5, 0, 0},
	}
	var names []string
	for _, n := range longest(dots, make([]figure.Label, len(dots))) {
		names = append(names, n.Text)
	}
	if want := []string{"a input (3 alike)", "b weights", "c input"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

func says(t *testing.T, svg []byte, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(string(svg), ">"+w+"<") {
			t.Errorf("the picture does not say %q", w)
		}
	}
}

func pngOf(t *testing.T, picture []byte, width, height int) {
	t.Helper()
	if c, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || c.Width != width || c.Height != height {
		t.Errorf("PNG %v, %v", c, err)
	}
}

func TestRooflinePicture(t *testing.T) {
	svg, err := Roofline(report(), load(t, "sw26010"), "svg")
	if err != nil {
		t.Fatal(err)
	}
	says(t, svg, "Roofline: net on sw26010, 4 core groups, batch 3", "operations a byte of memory traffic (FLOP/byte)", "GFLOP/s (modelled)",
		"peak 2970 GFLOP/s", "memory 105.7 GB/s", "conv weights", "conv forward", "relu forward", "Convolution", "ReLU", "forward", "weights", "input")
	picture, err := Roofline(report(), load(t, "knl7250"), "png")
	if err != nil {
		t.Fatal(err)
	}
	pngOf(t, picture, rooflineWidth, rooflineHeight)
	idle := report()
	idle.Layers = idle.Layers[1:2]
	if _, err := Roofline(idle, load(t, "sw26010"), "svg"); err == nil {
		t.Error("a net that computes nothing has a roofline")
	}
}

// meshReport is of a pass in which CPE i of the first core group uses i KB and moves i KB, those of others nothing.
func meshReport(t *testing.T, machine string) *modeltime.Report {
	spec := load(t, machine)
	r := report()
	r.Machine, r.CoreGroups = machine, spec.CoreGroups
	r.Mesh = &modeltime.Mesh{Layer: "conv", Direction: "forward", Strategy: "explicit", Rows: spec.Rows, Cols: spec.Cols, LDMBytes: spec.LDMBytes}
	for i := range spec.CoreGroups * spec.CPEs() {
		u := cpe.Usage{CoreGroup: i / spec.CPEs(), Row: i % spec.CPEs() / spec.Cols, Col: i % spec.Cols}
		if spec.CPEs() == 1 || u.CoreGroup == 0 {
			u.LDMPeak, u.GetBytes, u.PutBytes = 1024*i, 512*int64(i), 512*int64(i)
		}
		r.Mesh.CPEs = append(r.Mesh.CPEs, u)
	}
	return r
}

// TestMeshCells: a mesh shows its first core group, cores without a mesh stand in rows; shares add up to 100 %.
func TestMeshCells(t *testing.T) {
	for machine, want := range map[string]struct{ rows, cols, cells int }{"sw26010": {8, 8, 64}, "k40m": {4, 4, 15}, "knl7250": {8, 9, 68}} {
		ldm, dma := meshCells(meshReport(t, machine).Mesh)
		if ldm.rows != want.rows || ldm.cols != want.cols || len(ldm.values) != want.rows*want.cols {
			t.Errorf("%s: %d x %d cells", machine, ldm.rows, ldm.cols)
		}
		sum, cells := 0.0, 0
		for i, v := range dma.values {
			if math.IsNaN(v) {
				continue
			}
			sum += v
			cells++
			if ldm.values[i] != float64(i) {
				t.Errorf("%s: cell %d uses %g KB", machine, i, ldm.values[i])
			}
			if v > dma.most {
				t.Errorf("%s: cell %d moves %g %%, more than the darkest colour's %g", machine, i, v, dma.most)
			}
		}
		if cells != want.cells || math.Abs(sum-100) > 1e-9 {
			t.Errorf("%s: %d cells with %g %% of the bytes", machine, cells, sum)
		}
	}
}

func TestMeshPicture(t *testing.T) {
	svg, err := Mesh(meshReport(t, "sw26010"), "svg")
	if err != nil {
		t.Fatal(err)
	}
	says(t, svg, "conv, forward (explicit): net on sw26010, core group 0 of 4, batch 3", "LDM used (KB of 64)", "share of the DMA bytes (%)",
		"column of the mesh", "row of the mesh", "63.0", "3.12")
	svg, err = Mesh(meshReport(t, "k40m"), "svg")
	if err != nil {
		t.Fatal(err)
	}
	says(t, svg, "conv, forward (explicit): net on k40m, 15 cores, batch 3", "cache used (KB of 304)", "first core of the row")
	picture, err := Mesh(meshReport(t, "knl7250"), "png")
	if err != nil {
		t.Fatal(err)
	}
	pngOf(t, picture, meshWidth, meshHeight)
}
