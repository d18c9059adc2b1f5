package orchestrator

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"airlock/bridge"
	"airlock/ident"
	"airlock/runtime/sandbox"
)

// The spans of a task, by OpenTelemetry's semantic conventions for generative AI: the
// task, in it the model's turns and the scripts, in these the calls of tools. They hold
// ids, counts and names that the operator or the program chose; never a text, and of an
// error its code only.

// traceTask begins a task's span. The function that it returns ends it as the task has.
func (s *Service) traceTask(ctx context.Context, t *taskState) (context.Context, func()) {
	ctx, span := s.opts.Tracer.Start(ctx, "invoke_agent airlock", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", "airlock"),
		attribute.String("gen_ai.conversation.id", string(t.session.id)), attribute.String("airlock.task.id", string(t.task.ID)),
	))
	return ctx, func() {
		task := t.snapshot()
		span.SetAttributes(
			attribute.String("airlock.task.status", string(task.Status)),
			attribute.Int("gen_ai.usage.input_tokens", task.Usage.InputTokens), attribute.Int("gen_ai.usage.output_tokens", task.Usage.OutputTokens),
		)
		if task.Problem != nil {
			fail(span, task.Problem.Code)
		}
		span.End()
	}
}

// traceTurn begins the span of one answer of the model.
func (a *agent) traceTurn(ctx context.Context) (context.Context, func(*turn, error)) {
	provider, model, ok := strings.Cut(a.model, "/")
	if !ok {
		provider, model = "airlock", cmp.Or(a.model, "default")
	}
	ctx, span := a.opts.Tracer.Start(ctx, "chat "+model, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", provider), attribute.String("gen_ai.request.model", model),
		attribute.String("gen_ai.conversation.id", string(a.task.session.id)),
	))
	return ctx, func(t *turn, err error) {
		span.SetAttributes(
			attribute.Int("gen_ai.usage.input_tokens", t.usage.InputTokens), attribute.Int("gen_ai.usage.output_tokens", t.usage.OutputTokens),
			attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(t.stop)}),
		)
		if err != nil {
			fail(span, problemOf(err).Code)
		}
		span.End()
	}
}

// traceExecution begins the span of one script.
func (s *Service) traceExecution(ctx context.Context, session *session, id ident.Execution, backend string, x script) (context.Context, func(sandbox.Reason)) {
	ctx, span := s.opts.Tracer.Start(ctx, "execute_code", trace.WithAttributes(
		attribute.String("gen_ai.conversation.id", string(session.id)), attribute.String("airlock.task.id", string(x.task)),
		attribute.String("airlock.execution.id", string(id)), attribute.String("airlock.sandbox", backend), attribute.String("airlock.language", string(x.language)),
	))
	return ctx, func(reason sandbox.Reason) {
		reason = cmp.Or(reason, "internal") // it did not get as far as to end
		span.SetAttributes(attribute.String("airlock.execution.status", string(reason)))
		if reason != sandbox.ReasonOK {
			fail(span, string(reason))
		}
		span.End()
	}
}

// traceCall makes the span of a call that has ended. The name of a tool that there is
// not was made up by the script, so it is left out.
func (s *Service) traceCall(ctx context.Context, id ident.Execution, e bridge.Event) {
	ended, name := time.Now(), e.Tool
	if e.Server == "" {
		name = "unknown"
	}
	_, span := s.opts.Tracer.Start(ctx, "execute_tool "+name, trace.WithTimestamp(ended.Add(-e.Duration)), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", name), attribute.String("gen_ai.tool.type", "extension"),
		attribute.String("airlock.execution.id", string(id)), attribute.Int("airlock.result.bytes", e.ResultBytes),
	))
	if e.Outcome != "ok" {
		fail(span, e.Outcome)
	}
	span.End(trace.WithTimestamp(ended))
}

func fail(span trace.Span, code string) {
	span.SetAttributes(attribute.String("error.type", code))
	span.SetStatus(codes.Error, code)
}
