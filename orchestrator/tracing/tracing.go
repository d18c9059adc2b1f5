// Package tracing sends spans to a collector by OTLP over HTTP.
//
// What a span may hold is decided where it is made, in package orchestrator: names that
// the operator or the program chose, ids, counts and times; never a text, a user or a
// value.
package tracing

import (
	"context"
	"fmt"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options are what tracing is set up with. All are required.
type Options struct {
	// Endpoint is the base URL of a collector; spans go to /v1/traces below it.
	Endpoint string
	// Version is of the program.
	Version string
	// Failed is told when spans could not be sent, and are lost. It may be called
	// concurrently.
	Failed func(error)
}

// Traces sends what its Tracer makes, some at a time. It may be used concurrently.
type Traces struct{ provider *sdktrace.TracerProvider }

// New sets tracing up; it does not wait for the collector.
func New(ctx context.Context, o Options) (*Traces, error) {
	target, err := url.JoinPath(o.Endpoint, "v1", "traces")
	if err != nil {
		return nil, fmt.Errorf("set up tracing: %w", err)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(target))
	if err != nil {
		return nil, fmt.Errorf("set up tracing: %w", err)
	}
	return &Traces{sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(reporting{exporter, o.Failed}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "airlock"), attribute.String("service.version", o.Version))),
	)}, nil
}

// Tracer makes spans.
func (t *Traces) Tracer() trace.Tracer { return t.provider.Tracer("airlock") }

// Close sends what is left, as long as ctx lasts, and ends tracing.
func (t *Traces) Close(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("end tracing: %w", err)
	}
	return nil
}

// reporting tells of failures in place of the SDK, which writes them to standard error.
type reporting struct {
	sdktrace.SpanExporter
	failed func(error)
}

func (r reporting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := r.SpanExporter.ExportSpans(ctx, spans); err != nil {
		r.failed(err)
	}
	return nil
}
