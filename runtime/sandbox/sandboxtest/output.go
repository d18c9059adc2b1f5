package sandboxtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"airlock/runtime/sandbox"
)

func (s *suite) testOutput(t *testing.T) {
	box := s.open(t)
	for name, tc := range map[string]struct{ code, stdout, stderr string }{
		"a line":                {`console.log("hello")`, "hello\n", ""},
		"several values":        {`console.log("a", 1, true, null)`, "a 1 true null\n", ""},
		"both streams":          {`console.log("out"); console.error("err"); console.warn("warn")`, "out\n", "err\nwarn\n"},
		"what came before":      {`console.log("before"); throw new Error("x")`, "before\n", ""},
		"after waiting":         {`console.log(1); await null; console.log(2); await utils.sleep(1); console.log(3)`, "1\n2\n3\n", ""},
		"many lines":            {`for (let i = 0; i < 2000; i++) console.log(i)`, numbers(2000), ""},
		"characters of 4 bytes": {`console.log("🎉".repeat(30000))`, strings.Repeat("🎉", 30000) + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			live := listen()
			x := script(tc.code)
			x.Output = live.take(t)
			o := run(t, box, x)
			if o.stdout != tc.stdout || !strings.HasPrefix(o.stderr, tc.stderr) {
				t.Errorf("stdout %.200q, want %.200q; stderr %.200q, want %.200q", o.stdout, tc.stdout, o.stderr, tc.stderr)
			}
			if live.text(sandbox.Stdout) != o.stdout || live.text(sandbox.Stderr) != o.stderr {
				t.Error("the live output differs from what was kept")
			}
			if o.StdoutDropped+o.StderrDropped != 0 {
				t.Errorf("%d bytes were dropped", o.StdoutDropped+o.StderrDropped)
			}
		})
	}
	t.Run("beyond what is kept", func(t *testing.T) { testDropped(t, box) })
	t.Run("made safe to show", func(t *testing.T) { testSafeOutput(t, box) })
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

func testDropped(t *testing.T, box sandbox.Sandbox) {
	x := script(`for (let i = 0; i < 1000; i++) console.log("ä".repeat(49))`) // 99 bytes a line
	x.Limits.OutputBytes = 10_000
	o := run(t, box, x)
	o.want(t, sandbox.ReasonOK)
	if len(o.stdout) > 10_000 || len(o.stdout) < 9_900 {
		t.Errorf("%d bytes were kept of 10000", len(o.stdout))
	}
	if total := int64(len(o.stdout)) + o.StdoutDropped; total < 98_990 || total > 99_010 {
		t.Errorf("kept and dropped are %d bytes of 99000", total)
	}
	if !utf8.ValidString(o.stdout) {
		t.Error("what was kept ends within a character")
	}
}

// testSafeOutput prints what would act on a terminal or break a store.
func testSafeOutput(t *testing.T, box sandbox.Sandbox) {
	o := run(t, box, script(`console.log("\x1b[2J\x07\0\x9b\ud800\r end")`))
	o.want(t, sandbox.ReasonOK)
	if !utf8.ValidString(o.stdout) {
		t.Errorf("stdout is not UTF-8: %q", o.stdout)
	}
	if i := strings.IndexFunc(o.stdout, isControl); i >= 0 {
		t.Errorf("stdout has a control character: %q", o.stdout)
	}
	if !strings.Contains(o.stdout, "end") {
		t.Errorf("text was lost: %q", o.stdout)
	}
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// testLiveOutput holds the script in a call until its output was heard.
func (s *suite) testLiveOutput(t *testing.T) {
	live := listen()
	bridge := handlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for !strings.Contains(live.text(sandbox.Stdout), "working") {
			select {
			case <-live.heard:
			case <-r.Context().Done():
				return
			}
		}
		writeResult(w, `{"heard":true}`)
	})
	x := script(`console.log("working"); return await callMCPTool("test__wait", {})`)
	x.Bridge, x.Output = bridge, live.take(t)
	o := run(t, s.open(t), x)
	o.want(t, sandbox.ReasonOK)
	if o.value != `{"heard":true}` {
		t.Errorf("value is %q", o.value)
	}
}
