package wasm

import (
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"airlock/ident"
	"airlock/runtime/sandbox"
)

// answer is a bridge whose tools answer at once, or after a delay.
func answer(delay time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if delay > 0 {
			select {
			case <-time.After(delay):
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"content":[],"structuredContent":{"rows":[1,2,3]},"isError":false}`)
	})
}

func benchmark(b *testing.B, code string, bridge http.Handler) {
	backend, err := New(options(b))
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	box, err := backend.Open(b.Context(), ident.NewSession())
	if err != nil {
		b.Fatal(err)
	}
	x := sandbox.Execution{Language: sandbox.JavaScript, Code: code, Bridge: bridge, Token: "t", Limits: sandbox.DefaultLimits()}
	times := make([]time.Duration, 0, b.N)
	once := func() {
		begun := time.Now()
		if r, err := box.Run(b.Context(), x); err != nil || r.Reason != sandbox.ReasonOK {
			b.Fatalf("Run: %v, reason %q", err, r.Reason)
		}
		times = append(times, time.Since(begun))
	}
	once()
	times = times[:0]
	for b.Loop() {
		once()
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkWarmToolCall is a warm execution with one tool call in process; the goal
// is a p50 of 3 ms.
func BenchmarkWarmToolCall(b *testing.B) {
	benchmark(b, `const r = await callMCPTool("shop__query", { query: "select 1" }); return r.rows.length`, answer(0))
}

// BenchmarkWarmBare is a warm execution that does nothing.
func BenchmarkWarmBare(b *testing.B) { benchmark(b, `return 1 + 1`, nil) }

// BenchmarkTenParallelCalls is ten calls of 50 ms each under Promise.all.
func BenchmarkTenParallelCalls(b *testing.B) {
	benchmark(b, `return (await Promise.all(Array.from({ length: 10 }, (_, n) => callMCPTool("shop__slow", { n })))).length`, answer(50*time.Millisecond))
}
