package docker

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

// shop is a bridge with one tool.
var shop = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"content":[],"structuredContent":[{"region":"north","amount":3},{"region":"south","amount":5}],"isError":false}`)
})

func TestEveryLanguageRunsAndCallsTools(t *testing.T) {
	t.Parallel()
	needImage(t)
	s := open(t, backend(t, real(t)))
	for _, tc := range []struct {
		language           sandbox.Language
		code, value, print string
	}{
		{sandbox.JavaScript, `const r = await callMCPTool("shop__query", {}); console.log(r.length); return r[1].amount`, "5", "2\n"},
		{sandbox.TypeScript, "interface Row { region: string; amount: number }\nconst r: Row[] = await callMCPTool('shop__query', {});\nconsole.log(r.length);\nreturn r.reduce((n: number, x: Row) => n + x.amount, 0)", "8", "2\n"},
		{sandbox.Python, "rows = call_mcp_tool('shop__query', {})\nprint(len(rows))\nsum(r['amount'] for r in rows)", "8", "2\n"},
		{sandbox.Bash, `mcp call shop__query '{}' | jq length`, "", "2\n"},
	} {
		x := order(tc.code)
		x.Language, x.Bridge = tc.language, shop
		r := run(t, s, x)
		value, print := sandboxtest.Text(t, r.Value), sandboxtest.Text(t, r.Stdout)
		if r.Reason != sandbox.ReasonOK || value != tc.value || print != tc.print {
			t.Errorf("%s ended with %q, returned %q and printed %q (%s)", tc.language, r.Reason, value, print, message(t, r))
		}
	}
}

func TestErrorsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	needImage(t)
	s := open(t, backend(t, real(t)))
	for _, tc := range []struct {
		language sandbox.Language
		code     string
		line     int
		name     string
	}{
		{sandbox.TypeScript, "interface A {\n  n: number\n}\n\nconst a: A = { n: 1 };\nthrow new RangeError('x' + a.n)", 6, "RangeError"},
		{sandbox.TypeScript, "const a = 1;\nlet b: = 2", 2, "SyntaxError"},
		{sandbox.TypeScript, "import type { A } from './a'\nfunction f(): never {\n\n  throw new TypeError('deep')\n}\nf()", 4, "TypeError"},
		{sandbox.TypeScript, strings.Repeat("(", 60_000), 1, "SyntaxError"},
		{sandbox.Python, "a = 1\n\nraise ValueError('x')", 3, "ValueError"},
		{sandbox.Python, "a = 1\nb = = 2", 2, "SyntaxError"},
		{sandbox.JavaScript, "\nnull.x", 2, "TypeError"},
	} {
		x := order(tc.code)
		x.Language = tc.language
		r := run(t, s, x)
		if r.Reason != sandbox.ReasonError || r.Error == nil || r.Error.Line != tc.line || r.Error.Name != tc.name {
			t.Errorf("%s %.60q ended with %q, %s, %+v", tc.language, tc.code, r.Reason, message(t, r), r.Error)
		}
	}
}

func TestAScriptThatClosesItsFolderHarmsNoOther(t *testing.T) {
	t.Parallel()
	needImage(t)
	s := open(t, backend(t, real(t)))
	files, _ := workspace(t)
	for _, tc := range []struct {
		language sandbox.Language
		code     string
	}{
		{sandbox.JavaScript, `await fs.writeFile("/workspace/a", "a"); return 1`},
		{sandbox.Python, `open("a", "a").close(); result = 1`},
		{sandbox.Bash, `: >> a`},
	} {
		for _, code := range []string{tc.code, `chmod 000 /workspace`} {
			x := order(code)
			x.Files = files
			if code == tc.code {
				x.Language = tc.language
			}
			if r := run(t, s, x); r.Reason != sandbox.ReasonOK {
				t.Errorf("%s, %q ended with %q (%s)", tc.language, code, r.Reason, message(t, r))
			}
		}
	}
}

func TestAChartIsMade(t *testing.T) {
	t.Parallel()
	needImage(t)
	s := open(t, backend(t, real(t)))
	dir := t.TempDir()
	x := order(`
import matplotlib.pyplot as plt, pandas as pd
rows = pd.DataFrame(call_mcp_tool("shop__query", {}))
rows.plot.bar(x="region", y="amount")
plt.savefig("/artifacts/chart.png")
len(rows)`)
	x.Language, x.Bridge = sandbox.Python, shop
	x.Files = plainFiles{mounts: []sandbox.Mount{{Guest: "/artifacts", Host: dir}}}
	x.Limits.Wall *= 3
	if r := run(t, s, x); r.Reason != sandbox.ReasonOK {
		t.Fatalf("it ended with %q (%s)", r.Reason, message(t, r))
	}
	chart, err := os.ReadFile(filepath.Join(dir, "chart.png"))
	if err != nil || !strings.HasPrefix(string(chart), "\x89PNG") || len(chart) < 2000 {
		t.Errorf("the chart is %d bytes (%v)", len(chart), err)
	}
}
