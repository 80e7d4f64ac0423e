package cpe

// Usage is what one CPE used while its machine was traced.
type Usage struct {
	CoreGroup int   `json:"core_group"`
	Row       int   `json:"row"`
	Col       int   `json:"col"`
	LDMPeak   int   `json:"ldm_peak_bytes"`
	GetBytes  int64 `json:"get_bytes"` // from memory to LDM
	PutBytes  int64 `json:"put_bytes"` // from LDM to memory
}

// StartTrace starts recording what every CPE uses. Work of equal cost is then run piece by piece, so that modelling takes longer; the charges
// stay the same.
func (m *Machine) StartTrace() {
	m.tracing = true
	for _, g := range m.groups {
		for _, c := range g.cpes {
			c.usage = Usage{CoreGroup: g.index, Row: c.Row, Col: c.Col}
		}
	}
}

// StopTrace returns what every CPE has used since StartTrace, core group by core group and row by row.
func (m *Machine) StopTrace() []Usage {
	m.tracing = false
	var all []Usage
	for _, g := range m.groups {
		for _, c := range g.cpes {
			all = append(all, c.usage)
		}
	}
	return all
}

// everyWork reports whether work of equal cost must be run every time, because values or each CPE's use count.
func (g *CoreGroup) everyWork() bool { return g.Values() || g.machine.tracing }

// moved records a transfer of a CPE.
func (u *Usage) moved(bytes int, put bool) {
	if put {
		u.PutBytes += int64(bytes)
	} else {
		u.GetBytes += int64(bytes)
	}
}

// movedTile records the transfer of a tile for the owners of its parts.
func (g *CoreGroup) movedTile(t *Tile, put bool) {
	s := g.Spec()
	for i := range t.parts {
		p := &t.parts[i]
		g.at(i/t.ColParts%s.Rows, i%t.ColParts%s.Cols).usage.moved(s.Bytes(p.Rows*p.Cols), put)
	}
}
