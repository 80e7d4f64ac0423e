package modeltime

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// MeshOptions select the pass through a layer for which Run reports the use of every CPE.
type MeshOptions struct {
	Layer     string
	Direction shape.Direction
}

// Mesh is the use of every CPE in one pass through a layer.
type Mesh struct {
	Layer     string      `json:"layer"`
	Direction string      `json:"direction"`
	Strategy  string      `json:"strategy"`
	Rows      int         `json:"rows"` // rows of a core group's mesh
	Cols      int         `json:"cols"`
	LDMBytes  int         `json:"ldm_bytes"` // LDM of one CPE
	CPEs      []cpe.Usage `json:"cpes"`      // core group by core group, row by row
}

// findMesh checks that the net has the selected layer.
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

// trace runs a pass through layer i, and records the use of every CPE if this pass is selected.
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

// usesCPEs reports whether any CPE has transferred or held values.
func (m *Mesh) usesCPEs() bool {
	for _, c := range m.CPEs {
		if c.LDMPeak > 0 || c.GetBytes+c.PutBytes > 0 {
			return true
		}
	}
	return false
}
