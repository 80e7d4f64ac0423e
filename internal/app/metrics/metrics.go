// Package metrics turns a run's events into Prometheus metrics.
//
// A Set takes events and answers requests in Prometheus's text format. Names follow Prometheus's conventions: base units, _total for
// counters, _ratio for shares. docs/metrics.md lists the names, and docs/grafana.json has a dashboard for Grafana.
package metrics

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Set is the metrics of a run.
type Set struct {
	registry *prometheus.Registry

	running, iteration, maxIteration, started prometheus.Gauge
	info                                      *prometheus.GaugeVec

	iterations, items, crashes, snapshots, tests  prometheus.Counter
	loss, smoothed, rate, speed, wait, snapshotAt prometheus.Gauge
	trainOutputs, testOutputs, testLoss           *prometheus.GaugeVec

	itemsOf float64 // items of an iteration
}

// New returns the metrics of a run that has not started, with those of the process.
func New() *Set {
	s := &Set{registry: prometheus.NewRegistry()}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "swcaffe", Name: name, Help: help})
		s.registry.MustRegister(g)
		return g
	}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "swcaffe", Name: name, Help: help})
		s.registry.MustRegister(c)
		return c
	}
	vector := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "swcaffe", Name: name, Help: help}, labels)
		s.registry.MustRegister(v)
		return v
	}
	s.running = gauge("running", "1 while the run trains, else 0.")
	s.info = vector("run_info", "The run, as labels; the value is 1.", "solver", "net", "workers")
	s.started = gauge("start_timestamp_seconds", "Time at which the run, or its last resumption, began.")
	s.iteration = gauge("iteration", "Iterations done, with those before a resumption.")
	s.maxIteration = gauge("max_iteration", "Iteration at which the run ends.")
	s.iterations = counter("iterations_total", "Iterations done by this process.")
	s.items = counter("items_total", "Items (images) processed by this process in training, and by the other workers.")
	s.loss = gauge("loss", "Loss of the last iteration.")
	s.smoothed = gauge("smoothed_loss", "Mean of the last average_loss losses.")
	s.rate = gauge("learning_rate", "Learning rate of the last iteration.")
	s.speed = gauge("items_per_second", "Throughput of the last iteration.")
	s.wait = gauge("data_wait_ratio", "Share of the last iteration's time spent waiting for data, from 0 to 1.")
	s.trainOutputs = vector("train_output", "Outputs of the training net in the last iteration.", "output")
	s.tests = counter("tests_total", "Tests of test nets done.")
	s.testLoss = vector("test_loss", "Mean loss in the last test.", "test_net")
	s.testOutputs = vector("test_output", "Outputs of the test nets in the last test.", "test_net", "output")
	s.snapshots = counter("snapshots_total", "Snapshots written.")
	s.snapshotAt = gauge("last_snapshot_timestamp_seconds", "Time of the last snapshot; 0: none.")
	s.crashes = counter("crashes_total", "1 after the run has ended with an error.")
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// Take updates the metrics by an event.
func (s *Set) Take(e events.Event) {
	switch b := e.Body.(type) {
	case *events.Started:
		s.running.Set(1)
		s.started.Set(seconds(e))
		s.info.Reset()
		s.info.WithLabelValues(label(b.Solver), label(b.Net), fmt.Sprint(b.Workers)).Set(1)
		s.iteration.Set(float64(b.Iteration))
		s.maxIteration.Set(float64(b.MaxIter))
		s.itemsOf = float64(b.Items)
	case *events.Iteration:
		s.iterate(b)
	case *events.Test:
		s.tests.Inc()
		net := fmt.Sprint(b.Net)
		s.testLoss.WithLabelValues(net).Set(float64(b.Loss))
		for _, o := range b.Outputs {
			s.testOutputs.WithLabelValues(net, label(o.Name)).Set(float64(o.Value))
		}
	case *events.Snapshot:
		s.snapshots.Inc()
		s.snapshotAt.Set(seconds(e))
	case *events.Stopped:
		s.running.Set(0)
	case *events.Crashed:
		s.running.Set(0)
		s.crashes.Inc()
	}
}

func (s *Set) iterate(b *events.Iteration) {
	s.iteration.Set(float64(b.Iteration + 1))
	s.iterations.Inc()
	s.items.Add(s.itemsOf)
	s.loss.Set(float64(b.Loss))
	s.smoothed.Set(float64(b.Smoothed))
	s.rate.Set(float64(b.Rate))
	s.speed.Set(float64(b.Speed))
	s.wait.Set(float64(b.Wait))
	for _, o := range b.Outputs {
		s.trainOutputs.WithLabelValues(label(o.Name)).Set(float64(o.Value))
	}
}

func seconds(e events.Event) float64 { return float64(e.Time.UnixMicro()) / 1e6 }

// ServeHTTP writes the metrics in the text format that the client asks for.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	families, err := s.registry.Gather()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	format := expfmt.NegotiateAccept(r.Header, expfmt.DefaultAcceptedFormats()...)
	w.Header().Set("Content-Type", string(format))
	to := expfmt.NewEncoder(w, format)
	for _, f := range families {
		if to.Encode(f) != nil {
			return // the client went away
		}
	}
	if c, ok := to.(expfmt.Closer); ok {
		_ = c.Close()
	}
}

// label returns a name as the value of a label, which must be UTF-8; Caffe's names may have any bytes.
func label(name string) string { return strings.ToValidUTF8(name, "\ufffd") }
