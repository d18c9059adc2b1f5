package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
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

// instantModel answers at once: with a script first, if there is to be one, and then
// with an answer.
func instantModel(b *testing.B, code string) func(*Config) {
	model := llmtest.NewEndlessServer(b, func(request []byte) llmtest.Turn {
		if code == "" || bytes.Contains(request, []byte(`"role":"tool"`)) {
			return llmtest.Turn{Text: "There are 42."}
		}
		return llmtest.Turn{Calls: []llm.Call{{ID: "a", Name: "execute_code", Arguments: fmt.Sprintf(`{"code":%q}`, code)}}}
	})
	return func(c *Config) {
		c.LLMProvider, c.LLMBaseURL, c.LLMModel, c.LLMAPIKey = "openai", model.OpenAIURL(), "m", "k"
	}
}

// BenchmarkTaskOverhead measures what a whole task over the API costs beside its model,
// which answers at once, and beside its sandbox: that is opened before, as it is while a
// real model thinks, and the time that the script runs is taken off.
func BenchmarkTaskOverhead(b *testing.B) {
	for name, code := range map[string]string{"answer": "", "script": "return 6 * 7"} {
		b.Run(name, func(b *testing.B) {
			c := openSystem(b, instantModel(b, code))
			var overhead []time.Duration
			for b.Loop() {
				opened := c.execute(b, "bench", "return 1", false)
				body := map[string]any{"userId": "bench", "task": "How many?", "sessionId": opened.SessionID}
				var answer taskAnswer
				scripts, begun := c.scriptTime(b), time.Now()
				if err := c.do(b.Context(), "/task", body, &answer); err != nil || answer.Status != "completed" {
					b.Fatalf("%v, ended %s: %+v", err, answer.Status, answer.Error)
				}
				took := time.Since(begun)
				overhead = append(overhead, took-(c.scriptTime(b)-scripts))
			}
			reportPercentiles(b, overhead)
		})
	}
}

// scriptTime is how long scripts have run so far, as /metrics tells.
func (c *client) scriptTime(b *testing.B) (sum time.Duration) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, c.base+"/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "airlock_execution_seconds_sum{") {
			continue
		}
		seconds, err := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(seconds * float64(time.Second))
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return sum
}

// BenchmarkTasksAtOnce measures how many tasks a second are finished when sixteen users
// ask at once, of a model that answers at once.
func BenchmarkTasksAtOnce(b *testing.B) {
	for name, code := range map[string]string{"answer": "", "script": "return 6 * 7"} {
		b.Run(name, func(b *testing.B) {
			c := openSystem(b, instantModel(b, code))
			c.task(b, "bench", "How many?")
			var users atomic.Int64
			b.SetParallelism(8) // times the two cores
			begun := time.Now()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				user := fmt.Sprintf("user%d", users.Add(1))
				body := map[string]any{"userId": user, "task": "How many?"}
				for pb.Next() {
					var answer taskAnswer
					if err := c.do(b.Context(), "/task", body, &answer); err != nil || answer.Status != "completed" {
						b.Errorf("%v, ended %s: %+v", err, answer.Status, answer.Error)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "tasks/s")
		})
	}
}

// BenchmarkMCPExecute measures what a host's call of execute_code costs on top of the
// same execution in this process, side by side.
func BenchmarkMCPExecute(b *testing.B) {
	const code = `return 1`
	c := openSystem(b)
	face, err := c.system.openMCP(zap.NewNop())
	if err != nil {
		b.Fatal(err)
	}
	host, end := record(b, face)
	defer end()
	host.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}})
	talks := c.system.service.Converse("bench")
	var direct, called []time.Duration
	for b.Loop() {
		begun := time.Now()
		if _, _, err := talks.Execute(b.Context(), orchestrator.ExecuteRequest{Language: sandbox.JavaScript, Code: code}); err != nil {
			b.Fatal(err)
		}
		direct = append(direct, time.Since(begun))
		begun = time.Now()
		host.call("execute_code", map[string]any{"code": code})
		called = append(called, time.Since(begun))
	}
	slices.Sort(direct)
	slices.Sort(called)
	middle := len(direct) / 2
	b.ReportMetric(float64(direct[middle].Microseconds()), "p50-µs-in-process")
	b.ReportMetric(float64((called[middle] - direct[middle]).Microseconds()), "p50-µs-on-top")
}

// BenchmarkAcceptAtOnce measures how long each of 500 tasks that come at once takes to
// be accepted, which means to be safe on the disk, and how fast all are done.
func BenchmarkAcceptAtOnce(b *testing.B) {
	const atOnce = 500
	c := openSystem(b, instantModel(b, ""))
	var took []time.Duration
	for b.Loop() {
		var mu sync.Mutex // guards took
		var clients sync.WaitGroup
		for i := range atOnce {
			clients.Go(func() {
				user := ident.User(fmt.Sprintf("user%d", i%20))
				begun := time.Now()
				id, err := c.system.service.Submit(b.Context(), orchestrator.TaskRequest{User: user, Text: pii.NewRaw("How many?")})
				accepted := time.Since(begun)
				if err == nil {
					_, err = c.system.service.Wait(b.Context(), user, id)
				}
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, accepted)
			})
		}
		clients.Wait()
	}
	reportPercentiles(b, took)
}
