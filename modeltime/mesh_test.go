package modeltime

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// direction picks a pass of a layer.
func direction(l *Layer, d shape.Direction) *Direction {
	return [...]*Direction{l.Forward, l.WeightGradient, l.InputGradient}[d]
}

// TestMesh: what the CPEs use adds up to what their layer is charged, in every pass of every layer, strategy and mode, and
// looking at them changes no figure.
func TestMesh(t *testing.T) {
	strategies := []shape.Strategy{shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5}
	if testing.Short() {
		strategies = strategies[:1]
	}
	for _, machine := range []string{"sw26010", "k40m"} {
		spec, err := cpe.Load(machine)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range strategies {
			o := options(t)
			o.Spec, o.Force.Family, o.Batch = spec, st, 8
			plain := run(t, small, o)
			for i := range plain.Layers {
				for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient} {
					want := direction(&plain.Layers[i], d)
					if want == nil {
						continue
					}
					o.Mesh = &MeshOptions{plain.Layers[i].Name, d}
					r := run(t, small, o)
					got := direction(&r.Layers[i], d)
					if *got != *want || r.Total != plain.Total {
						t.Errorf("%s %v on %s, %v: %+v with the CPEs, %+v without", o.Mesh.Layer, d, machine, st, *got, *want)
					}
					checkMesh(t, r.Mesh, &spec, want)
				}
			}
		}
	}
}

func checkMesh(t *testing.T, m *Mesh, spec *cpe.Spec, want *Direction) {
	t.Helper()
	if len(m.CPEs) != spec.CoreGroups*spec.CPEs() || m.Rows != spec.Rows || m.Cols != spec.Cols || m.LDMBytes != spec.LDMBytes {
		t.Fatalf("%s %s: %d CPEs in meshes of %d x %d", m.Layer, m.Direction, len(m.CPEs), m.Rows, m.Cols)
	}
	bytes, peak := int64(0), 0
	for i, c := range m.CPEs {
		if c.CoreGroup != i/spec.CPEs() || c.Row != i%spec.CPEs()/spec.Cols || c.Col != i%spec.Cols {
			t.Errorf("CPE %d is at %+v", i, c)
		}
		bytes += c.GetBytes + c.PutBytes
		peak = max(peak, c.LDMPeak)
	}
	if bytes != want.DMABytes || peak != want.LDMPeak {
		t.Errorf("%s %s (%s) on %s: the CPEs move %d bytes and use up to %d, their layer %d and %d", m.Layer, m.Direction, m.Strategy, spec.Name,
			bytes, peak, want.DMABytes, want.LDMPeak)
	}
}

func TestMeshErrors(t *testing.T) {
	for _, c := range []struct {
		mesh MeshOptions
		want string
	}{
		{MeshOptions{"conv3", shape.Forward}, `unknown layer "conv3", did you mean "conv1"? (layers: data, conv1,`},
		{MeshOptions{"conv1", shape.InputGradient}, `layer "conv1", input gradient: no CPE is used`},
		{MeshOptions{"data", shape.Forward}, `layer "data", forward: no CPE is used`},
	} {
		o := options(t)
		o.Mesh = &c.mesh
		if _, err := Run(readNet(t, small), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
