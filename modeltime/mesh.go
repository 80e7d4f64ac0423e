package modeltime

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/suggest"
)

// MeshOptions name the pass through a layer of which Run reports what every CPE uses.
type MeshOptions struct {
	Layer     string
	Direction shape.Direction
}

// Mesh is what every CPE uses in one pass through a layer.
type Mesh struct {
	Layer     string      `json:"layer"`
	Direction string      `json:"direction"`
	Strategy  string      `json:"strategy"`
	Rows      int         `json:"rows"` // of a core group
	Cols      int         `json:"cols"`
	LDMBytes  int         `json:"ldm_bytes"` // that a CPE has
	CPEs      []cpe.Usage `json:"cpes"`      // core group by core group, row by row
}

// findMesh checks that the net has the layer whose CPEs are to be looked at.
func (r *runner) findMesh() error {
	if r.mesh == nil {
		return nil
	}
	var names []string
	for i := range r.net.NumLayers() {
		names = append(names, r.net.LayerName(i))
	}
	if slices.Contains(names, r.mesh.Layer) {
		return nil
	}
	return suggest.Unknown("layer", r.mesh.Layer, "layers", names)
}

// trace does the work of a pass through layer i, and notes what every CPE uses if that was asked for.
func (r *runner) trace(i int, d shape.Direction, work func() error) error {
	if r.mesh == nil || r.mesh.Layer != r.net.LayerName(i) || r.mesh.Direction != d {
		return work()
	}
	r.machine.StartTrace()
	err := work()
	r.report.Mesh = &Mesh{
		Layer: r.mesh.Layer, Direction: d.String(), Strategy: r.strategy(i, d),
		Rows: r.spec.Rows, Cols: r.spec.Cols, LDMBytes: r.spec.LDMBytes, CPEs: r.machine.StopTrace(),
	}
	return err
}

// usesCPEs reports whether any CPE has moved or held anything.
func (m *Mesh) usesCPEs() bool {
	for _, c := range m.CPEs {
		if c.LDMPeak > 0 || c.GetBytes+c.PutBytes > 0 {
			return true
		}
	}
	return false
}
