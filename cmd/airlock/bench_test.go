package main

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkWarmScript measures scripts that come in over the API and run in a warm
// embedded sandbox: alone, and with one call of a tool in this process.
func BenchmarkWarmScript(b *testing.B) {
	for name, code := range map[string]string{
		"bare":    `return 1`,
		"oneCall": `return await callMCPTool("database__query", {query: "SELECT 1 AS one"})`,
	} {
		b.Run(name, func(b *testing.B) {
			c := openSystem(b)
			first := c.execute(b, "bench", code, false)
			body := map[string]any{"userId": "bench", "code": code, "sessionId": first.SessionID}
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				var out executed
				if err := c.do(b.Context(), "/execute", body, &out); err != nil || out.Error != nil {
					b.Fatalf("%v %+v", err, out.Error)
				}
				took = append(took, time.Since(begun))
			}
			reportPercentiles(b, took)
		})
	}
}

// BenchmarkTask measures a whole task that a skill answers, without any model.
func BenchmarkTask(b *testing.B) {
	c := openSystem(b)
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		if answer := c.task(b, "bench", "Who are our best customers?"); answer.Status != "completed" {
			b.Fatalf("ended %s: %+v", answer.Status, answer.Error)
		}
		took = append(took, time.Since(begun))
	}
	reportPercentiles(b, took)
}

func reportPercentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(p int) float64 { return took[len(took)*p/100].Seconds() * 1000 }
	b.ReportMetric(at(50), "p50-ms")
	b.ReportMetric(at(99), "p99-ms")
}
