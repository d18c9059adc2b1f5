package sandboxtest

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"airlock/runtime/sandbox"
)

const (
	floodRounds = 12
	floodRound  = 8 << 20 // bytes in each
	// floodGrowth is what this process may hold more of after a round than after the
	// first: less than two rounds, of which it would otherwise keep eleven.
	floodGrowth = 2 * floodRound
)

// Floods checks that this process's memory stays as it is while a script prints, or
// passes to a tool, far more than is kept. It must run beside no other test: its
// caller does not call t.Parallel.
func Floods(t *testing.T, open func(t *testing.T) sandbox.Backend) {
	t.Helper()
	s := &suite{backend: open(t)}
	for name, code := range map[string]string{
		"output":    `const text = "x".repeat(1 << 17); for (let r = 0; r < 12; r++) { for (let i = 0; i < 64; i++) console.log(text); await callMCPTool("test__measure", {}) } return "ok"`,
		"errors":    `const text = "x".repeat(1 << 17); for (let r = 0; r < 12; r++) { for (let i = 0; i < 64; i++) console.error(text); await callMCPTool("test__measure", {}) } return "ok"`,
		"arguments": `const text = "x".repeat(1 << 17); for (let r = 0; r < 12; r++) { for (let i = 0; i < 64; i++) await callMCPTool("test__take", { text }); await callMCPTool("test__measure", {}) } return "ok"`,
	} {
		t.Run(name, func(t *testing.T) { s.flood(t, code) })
	}
}

func (s *suite) flood(t *testing.T, code string) {
	var held []uint64
	x := script(code)
	x.Limits.OutputKillBytes = 4 * floodRounds * floodRound
	x.Bridge = handlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "measure") {
			held = append(held, heap())
		}
		_, _ = io.Copy(io.Discard, r.Body)
		writeResult(w, `null`)
	})
	o := run(t, s.open(t), x)
	o.want(t, sandbox.ReasonOK)
	if len(held) != floodRounds {
		t.Fatalf("it was measured %d times", len(held))
	}
	for i, n := range held {
		if n > held[0]+floodGrowth {
			t.Errorf("after round %d of %d MiB each, %d MiB are held, after the first %d", i+1, floodRound>>20, n>>20, held[0]>>20)
		}
	}
}

// heap is what this process holds and can reach.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
