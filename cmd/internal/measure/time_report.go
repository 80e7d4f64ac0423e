package measure

import (
	"runtime"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/net/schedule"
)

// timeReport is what -json writes; times are medians over the iterations.
type timeReport struct {
	Model      string           `json:"model"`
	Phase      string           `json:"phase"`
	Engine     string           `json:"engine"`
	Machine    string           `json:"machine"`
	Batch      int              `json:"batch"`
	Threads    int              `json:"threads"`
	Iterations int              `json:"iterations"`
	Layers     []timeReportRow  `json:"layers"`
	Total      timeReportTotal  `json:"total"`
	Layouts    schedule.Layouts `json:"layouts"`

	mean        []timeReportRow
	forwardOnly bool
}

type timeReportRow struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Forward  float64 `json:"forward_ms"`
	Backward float64 `json:"backward_ms"`

	Algorithms *cli.ByDirection `json:"algorithms,omitempty"`
	Strategies *cli.ByDirection `json:"strategies,omitempty"` // the families of the algorithms
}

type timeReportTotal struct {
	Forward  float64 `json:"forward_ms"`
	Backward float64 `json:"backward_ms"`
	Images   float64 `json:"images_per_s"`
}

func newTimeReport(n *swnet.Net, times []layerTimes, o *timeOptions) *timeReport {
	r := &timeReport{
		Model: o.model, Phase: o.phase, Engine: o.device.Engine.String(), Machine: o.device.MachineName,
		Batch: n.BatchSize(), Threads: runtime.GOMAXPROCS(0), Iterations: o.iterations,
		Layouts: n.Layouts(), forwardOnly: o.forwardOnly,
	}
	forward, backward := make([]time.Duration, o.iterations), make([]time.Duration, o.iterations)
	for i, t := range times {
		row := timeReportRow{Name: n.LayerName(i), Type: n.LayerType(i)}
		r.mean = append(r.mean, timeReportRow{Name: row.Name, Forward: mean(t.forward), Backward: mean(t.backward)})
		row.Algorithms, row.Strategies = cli.AlgorithmsOf(n, o.device.Engine, i), cli.StrategiesOf(n, o.device.Engine, i)
		row.Forward, row.Backward = median(t.forward), median(t.backward)
		r.Layers = append(r.Layers, row)
		for k := range o.iterations {
			forward[k] += t.forward[k]
			backward[k] += t.backward[k]
		}
	}
	r.Total = timeReportTotal{Forward: median(forward), Backward: median(backward)}
	if both := r.Total.Forward + r.Total.Backward; both > 0 {
		r.Total.Images = 1000 * float64(r.Batch) / both
	}
	r.mean = append(r.mean, timeReportRow{Forward: mean(forward), Backward: mean(backward)})
	return r
}

func mean(ds []time.Duration) float64 {
	var sum time.Duration
	for _, d := range ds {
		sum += d
	}
	return ms(sum) / float64(len(ds))
}

// median returns the middle value in milliseconds (the mean of the two in the middle of an even number).
func median(ds []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(ds))
	k := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return ms(sorted[k-1]+sorted[k]) / 2
	}
	return ms(sorted[k])
}

// log prints the lines of Caffe's time command, with means as there.
func (r *timeReport) log(e *cli.Env) {
	e.Log.Info("Average time per layer: ")
	for _, row := range r.mean[:len(r.Layers)] {
		e.Log.Infof("%10s\tforward: %s ms.", row.Name, caffelog.Figure(row.Forward))
		if !r.forwardOnly {
			e.Log.Infof("%10s\tbackward: %s ms.", row.Name, caffelog.Figure(row.Backward))
		}
	}
	total := r.mean[len(r.Layers)]
	e.Log.Infof("Average Forward pass: %s ms.", caffelog.Figure(total.Forward))
	if !r.forwardOnly {
		e.Log.Infof("Average Backward pass: %s ms.", caffelog.Figure(total.Backward))
		e.Log.Infof("Average Forward-Backward: %s ms.", caffelog.Figure(total.Forward+total.Backward))
	}
	e.Log.Infof("Total Time: %s ms.", caffelog.Figure(float64(r.Iterations)*(total.Forward+total.Backward)))
	e.Log.Infof("Throughput: %s images/s (median of %d iterations, batch %d, %d threads)", caffelog.Figure(r.Total.Images), r.Iterations, r.Batch, r.Threads)
	e.Log.Info("*** Benchmark ends ***")
}
