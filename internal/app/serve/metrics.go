package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the server's, by model and version.
type metrics struct {
	registry       *prometheus.Registry
	requests       *prometheus.CounterVec
	seconds, batch *prometheus.HistogramVec
}

// The stages of a request whose time is measured.
const (
	stageQueue   = "queue"
	stageRun     = "run"
	stageRequest = "request"
)

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "swcaffe", Subsystem: "serve", Name: "requests_total", Help: "Requests to a version of a model, by the status they were answered with.",
		}, []string{"model", "version", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "swcaffe", Subsystem: "serve", Name: "stage_seconds", Help: "Time in the queue, of a run of the net, and of a whole request.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18),
		}, []string{"model", "version", "stage"}),
		batch: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "swcaffe", Subsystem: "serve", Name: "batch_items", Help: "Items of a run of the net.", Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}, []string{"model", "version"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.batch, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// meter is the metrics of a version.
type meter struct {
	queue, run, request prometheus.Observer
	batch               prometheus.Observer
	requests            *prometheus.CounterVec
}

func (m *metrics) of(name, number string) *meter {
	stage := func(s string) prometheus.Observer { return m.seconds.WithLabelValues(name, number, s) }
	return &meter{
		stage(stageQueue), stage(stageRun), stage(stageRequest), m.batch.WithLabelValues(name, number),
		m.requests.MustCurryWith(prometheus.Labels{"model": name, "version": number}),
	}
}

func (m *meter) waited(d time.Duration) { m.queue.Observe(d.Seconds()) }

func (m *meter) ran(items int, d time.Duration) {
	m.run.Observe(d.Seconds())
	m.batch.Observe(float64(items))
}

func (m *meter) answered(status int, d time.Duration) {
	m.request.Observe(d.Seconds())
	m.requests.WithLabelValues(strconv.Itoa(status)).Inc()
}
