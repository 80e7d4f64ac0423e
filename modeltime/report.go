package modeltime

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// Report is the modelled time of a net's training iteration. Times are in milliseconds of the modelled machine. Ranges are of package trust;
// there are none if nothing was published of the machine.
type Report struct {
	Model      string  `json:"model"`
	Machine    string  `json:"machine"`
	Batch      int     `json:"batch"`
	CoreGroups int     `json:"core_groups"`
	Mode       string  `json:"mode"`
	Layers     []Layer `json:"layers"`
	Total      Total   `json:"total"`
	Mesh       *Mesh   `json:"mesh,omitempty"` // if it was asked for in the options
	// Without says what the mechanisms are worth that were left out, if the caller asked WorthOf.
	Without []Worth `json:"without,omitempty"`
}

// Layer is one layer's part; directions that the layer does not compute are nil.
type Layer struct {
	Name           string     `json:"name"`
	Type           string     `json:"type"`
	Forward        *Direction `json:"forward"`
	WeightGradient *Direction `json:"weight_gradient"`
	InputGradient  *Direction `json:"input_gradient"`
}

// BackwardMs is the time of both gradients.
func (l *Layer) BackwardMs() float64 {
	ms := 0.0
	for _, d := range []*Direction{l.WeightGradient, l.InputGradient} {
		if d != nil {
			ms += d.ModelledMs
		}
	}
	return ms
}

// Direction is the cost of one pass through a layer.
type Direction struct {
	// Algorithm names the algorithm of a convolution's direction, and Strategy its family. For other layers both are the layer's type.
	Algorithm  string  `json:"algorithm"`
	Strategy   string  `json:"strategy"`
	ModelledMs float64 `json:"modelled_ms"`
	// ModelledRange is the range of ModelledMs, and GFlopsRange that of GFlops.
	ModelledRange trust.Range `json:"modelled_ms_range,omitzero"`
	GFlops        float64     `json:"gflops"` // rate over all core groups
	GFlopsRange   trust.Range `json:"gflops_range,omitzero"`
	PeakShare     float64     `json:"peak_share"` // rate relative to the core groups' peak
	// Bound is the cause of most of the time: compute, dma, bus, latency (the start-up of transfers) or mpe.
	Bound string `json:"bound"`
	// DMABytes went through LDM, MPEBytes through the management cores. MemoryBytes is the sum.
	DMABytes    int64 `json:"dma_bytes"`
	MPEBytes    int64 `json:"mpe_bytes,omitempty"`
	MemoryBytes int64 `json:"memory_bytes"`
	BusBytes    int64 `json:"bus_bytes"`
	LDMPeak     int   `json:"ldm_peak_bytes"`
	// RunnerUp is a convolution's second-best algorithm, and its time; "": there was no choice.
	RunnerUp   string  `json:"runner_up,omitempty"`
	RunnerUpMs float64 `json:"runner_up_ms,omitempty"`
}

// Total is the whole iteration: forward, backward and the update of the weights.
type Total struct {
	ForwardMs   float64 `json:"forward_ms"`
	BackwardMs  float64 `json:"backward_ms"`
	UpdateMs    float64 `json:"update_ms"`
	IterationMs float64 `json:"iteration_ms"`
	Images      float64 `json:"images_per_s"`

	ForwardRange   trust.Range `json:"forward_ms_range,omitzero"`
	BackwardRange  trust.Range `json:"backward_ms_range,omitzero"`
	UpdateRange    trust.Range `json:"update_ms_range,omitzero"`
	IterationRange trust.Range `json:"iteration_ms_range,omitzero"`
	ImagesRange    trust.Range `json:"images_per_s_range,omitzero"`

	ParameterBytes  int64 `json:"parameter_bytes"`  // weights, gradients and momentum
	ActivationBytes int64 `json:"activation_bytes"` // blobs and their gradients
	MemoryBytes     int64 `json:"memory_bytes"`     // main memory of the core groups; 0: not stated
}

// newDirection summarises a ledger; it returns nil if nothing was charged.
func newDirection(spec *cpe.Spec, strategy string, l cpe.Ledger) *Direction {
	if l.Time == 0 {
		return nil
	}
	d := &Direction{
		Strategy: strategy, ModelledMs: l.Time.Milliseconds(), GFlops: l.Flops / l.Time.Seconds() / 1e9,
		Bound: bound(spec, &l), DMABytes: l.GetBytes + l.PutBytes, MPEBytes: l.MPEBytes, BusBytes: l.BusBytes, LDMPeak: l.LDMPeak,
	}
	d.MemoryBytes = d.DMABytes + d.MPEBytes
	d.PeakShare = d.GFlops / spec.PeakGFlops() / float64(spec.CoreGroups)
	return d
}

// bound names the cause with the longest time.
func bound(spec *cpe.Spec, l *cpe.Ledger) string {
	if spec.IsMPE() {
		return "mpe"
	}
	name, most := "compute", l.Compute
	for _, c := range []struct {
		name string
		time cpe.VTime
	}{{"dma", l.DMA}, {"bus", l.Bus}, {"latency", l.Latency}, {"mpe", l.MPE}} {
		if c.time > most {
			name, most = c.name, c.time
		}
	}
	return name
}
