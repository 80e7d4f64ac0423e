package measure

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// dma measures the DMA of a machine.
func (o *bandwidthOptions) dma() (*bandwidthReport, string, error) {
	spec, err := cpe.Load(o.machine)
	if err == nil && spec.Native() {
		err = fmt.Errorf("%q is this computer; only modelled transfers are measured (machines: %s)", o.machine, strings.Join(modelledMachines(), ", "))
	}
	if err != nil {
		return nil, "", cli.FlagError("machine", err)
	}
	if o.offset != -1 {
		if spec, err = spec.WithOffset(o.offset); err != nil {
			return nil, "", cli.FlagError("offset", err)
		}
	}
	machines, err := onCurves(spec)
	if err != nil {
		return nil, "", cli.FlagError("machine", err)
	}
	defer func() {
		for _, m := range machines {
			m.Close()
		}
	}()
	if o.coreGroups == 0 {
		o.coreGroups = spec.CoreGroups
	}
	cpes := doubling(spec.Cols, spec.CPEs())
	if spec.CPEs() > 1 {
		cpes = slices.Insert(cpes, 0, 1)
	}
	if o.cpeList != "" {
		if cpes, err = parseNumbers(o.cpeList); err != nil {
			return nil, "", cli.Usagef("-cpes %w", err)
		}
	}
	sizes := o.bytes
	if sizes == nil {
		sizes = doubling(4, spec.LDMBytes)
	}
	r := &bandwidthReport{Machine: spec.Name, CoreGroups: o.coreGroups}
	if o.offset != -1 {
		r.Offset = &o.offset
	}
	for _, n := range cpes {
		for _, size := range sizes {
			var rows []*dmaRow
			for _, m := range machines {
				row, err := dmaFigures(m, n, size, spec.LDMBytes/2, o.coreGroups)
				if err != nil {
					return nil, "", err
				}
				rows = append(rows, row)
			}
			row := rows[0]
			row.addRanges(rows)
			r.Results = append(r.Results, bandwidthRow{CPEs: n, Bytes: size, DMA: row})
		}
	}
	title := fmt.Sprintf("DMA of %s, core groups: %d, modelled GB/s: a request of a CPE in one piece, and of %d bytes in blocks", spec.Name, o.coreGroups, spec.LDMBytes/2)
	if o.offset != -1 {
		title += fmt.Sprintf("\nEvery block starts %d bytes after a boundary of %d", o.offset, spec.DMA.TransactionBytes)
	}
	if spec.CPEs() > 1 && !spec.HasRMA() {
		title += fmt.Sprintf("\nRegister buses of a core group: %g GB/s broadcasting, %g GB/s point to point, latency %g cycles",
			spec.Bus.BroadcastGBps, spec.Bus.P2PGBps, spec.Bus.LatencyCycles)
	}
	if len(machines) > 1 {
		title += "\n(low-high): over the published curves " + strings.Join(spec.Curves(), ", ") + "; what has none was published once, and is an input of the model"
	}
	return r, title, nil
}

// onCurves returns the machine as described, and with each of its other curves of bandwidth.
func onCurves(spec cpe.Spec) (machines []*cpe.Machine, err error) {
	specs := []cpe.Spec{spec}
	for _, name := range spec.Curves() {
		if name == spec.Curve() {
			continue
		}
		other, err := spec.WithCurve(name)
		if err != nil {
			return nil, err
		}
		specs = append(specs, other)
	}
	for _, s := range specs {
		m, err := cpe.New(s, cpe.CostOnly)
		if err != nil {
			return nil, err
		}
		machines = append(machines, m)
	}
	return machines, nil
}

// addRanges adds the ranges over the rows of all curves, where they differ by a thousandth or more.
func (d *dmaRow) addRanges(rows []*dmaRow) {
	over := func(figure func(r *dmaRow) *float64) trust.Range {
		if figure(d) == nil {
			return trust.Range{}
		}
		r := trust.Range{Low: *figure(d), High: *figure(d)}
		for _, row := range rows {
			r.Low, r.High = min(r.Low, *figure(row)), max(r.High, *figure(row))
		}
		if r.High < 1.001*r.Low {
			return trust.Range{}
		}
		return r
	}
	d.GetRange = over(func(r *dmaRow) *float64 { return &r.Get })
	d.PutRange = over(func(r *dmaRow) *float64 { return &r.Put })
	d.BlocksGetRange = over(func(r *dmaRow) *float64 { return r.BlocksGet })
	d.BlocksPutRange = over(func(r *dmaRow) *float64 { return r.BlocksPut })
}

// dmaFigures measures single requests of a size, and about total bytes in requests of this size.
func dmaFigures(m *cpe.Machine, cpes, size, total, groups int) (*dmaRow, error) {
	var row dmaRow
	for _, f := range []struct {
		put   bool
		piece *float64
		block **float64
	}{{false, &row.Get, &row.BlocksGet}, {true, &row.Put, &row.BlocksPut}} {
		p := cpe.DMAProbe{CPEs: cpes, Bytes: size, Block: size, Put: f.put}
		v, err := p.Run(m, groups)
		if err != nil {
			return nil, err
		}
		*f.piece = v
		if p.Bytes = total / size * size; p.Bytes < 2*size {
			continue
		}
		if v, err = p.Run(m, groups); err != nil {
			return nil, err
		}
		*f.block = &v
	}
	return &row, nil
}
