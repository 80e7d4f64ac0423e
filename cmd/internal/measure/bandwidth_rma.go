package measure

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// rmaRow is what one CPE writes to the LDM of another, in the same block of CPEs and in the opposite corner of the mesh: with one request
// outstanding, and with as many as a CPE can have.
type rmaRow struct {
	NearOne  float64 `json:"near_one_gbytes_per_s"`
	NearMany float64 `json:"near_many_gbytes_per_s"`
	FarOne   float64 `json:"far_one_gbytes_per_s"`
	FarMany  float64 `json:"far_many_gbytes_per_s"`
}

// remote measures the remote access of a machine.
func (o *bandwidthOptions) remote() (*bandwidthReport, string, error) {
	spec, err := cpe.Load(o.machine)
	if err != nil {
		return nil, "", cli.FlagError("machine", err)
	}
	if !spec.HasRMA() {
		return nil, "", cli.FlagError("rma", fmt.Errorf("machine %q: its file does not describe an rma", spec.Name))
	}
	sizes := o.bytes
	if sizes == nil {
		sizes = doubling(8, spec.LDMBytes/2)
	}
	rows, cols, most := spec.Rows-1, spec.Cols-1, spec.RMA.MaxPending
	r := &bandwidthReport{Machine: spec.Name}
	for _, size := range sizes {
		if size < 1 || size > spec.LDMBytes {
			return nil, "", cli.Usagef("-bytes %d: a CPE has %d bytes of LDM", size, spec.LDMBytes)
		}
		rate := func(outstanding, rows, cols int) float64 {
			return float64(size) / spec.RMACycles(size, outstanding, rows, cols) * spec.ClockGHz
		}
		r.Results = append(r.Results, bandwidthRow{Bytes: size, RMA: &rmaRow{
			NearOne: rate(1, 0, 0), NearMany: rate(most, 0, 0), FarOne: rate(1, rows, cols), FarMany: rate(most, rows, cols),
		}})
	}
	var latencies []string
	for at := 0; at <= max(rows, cols); at += spec.RMA.Block {
		latencies = append(latencies, fmt.Sprintf("%.1f", spec.RMALatency(0, min(at, cols))))
	}
	title := fmt.Sprintf("RMA of %s, modelled GB/s of one pair of CPEs: in one block of %d x %d CPEs and from corner to corner, one request outstanding and %d",
		spec.Name, spec.RMA.Block, spec.RMA.Block, most)
	title += fmt.Sprintf("\nlatency in cycles along a row, by blocks passed: %s; from corner to corner %.1f", strings.Join(latencies, ", "), spec.RMALatency(rows, cols))
	return r, title + "\nno ranges: what several pairs take from each other was not measured, and is not modelled", nil
}
