// Package metrics counts and times what airlock does, for Prometheus to collect.
//
// Labels are names that the operator or the program chose: states, reasons, servers of
// the catalog. No user, session, task or text ever becomes one.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are those of one installation. Its methods may be called concurrently.
type Metrics struct {
	registry *prometheus.Registry

	open       prometheus.Gauge
	tasks      *prometheus.HistogramVec
	turns      *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	executions *prometheus.HistogramVec
	calls      *prometheus.HistogramVec
}

// The buckets of histograms, in seconds: from a warm script to a long task.
var (
	short = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	long  = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
)

// New makes metrics that count from zero, beside those of the Go runtime and of the
// process.
func New() *Metrics {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "airlock_" + name + "_seconds", Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		registry:   prometheus.NewRegistry(),
		open:       prometheus.NewGauge(prometheus.GaugeOpts{Name: "airlock_tasks_open", Help: "Tasks taken in and not ended."}),
		tasks:      histogram("task", "Time from taking a task in to its end.", long, "status"),
		turns:      histogram("model_turn", "Time of one answer of the model.", long, "outcome"),
		tokens:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "airlock_model_tokens_total", Help: "Tokens that models counted."}, []string{"kind"}),
		executions: histogram("execution", "Time of one script.", short, "backend", "language", "reason"),
		calls:      histogram("tool_call", "Time of one tool call through the bridge.", short, "server", "outcome"),
	}
	m.registry.MustRegister(m.open, m.tasks, m.turns, m.tokens, m.executions, m.calls,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers with the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// TaskTaken counts a task that was taken in.
func (m *Metrics) TaskTaken() { m.open.Inc() }

// TaskEnded counts a task that was taken in and has ended.
func (m *Metrics) TaskEnded(status string, took time.Duration) {
	m.open.Dec()
	m.tasks.WithLabelValues(status).Observe(took.Seconds())
}

// TurnEnded counts an answer of the model, by outcome ok or error, with the tokens it
// was charged for.
func (m *Metrics) TurnEnded(outcome string, input, output, cached int, took time.Duration) {
	m.turns.WithLabelValues(outcome).Observe(took.Seconds())
	m.tokens.WithLabelValues("input").Add(float64(max(input, 0)))
	m.tokens.WithLabelValues("output").Add(float64(max(output, 0)))
	m.tokens.WithLabelValues("cached").Add(float64(max(cached, 0)))
}

// ExecutionEnded counts a script.
func (m *Metrics) ExecutionEnded(backend, language, reason string, took time.Duration) {
	m.executions.WithLabelValues(backend, language, reason).Observe(took.Seconds())
}

// ToolCalled counts a call; server is empty where the script named none that exists.
func (m *Metrics) ToolCalled(server, outcome string, took time.Duration) {
	m.calls.WithLabelValues(server, outcome).Observe(took.Seconds())
}
