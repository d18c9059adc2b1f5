package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// needDocker skips where no engine or no image is there, unless the environment
// says that they must be.
func needDocker(t *testing.T) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", "--format", "{{.Id}}", "airlock-sandbox:latest").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("AIRLOCK_REQUIRE_DOCKER") != "" {
		t.Fatalf("no Docker engine with the image airlock-sandbox:latest: %s", out)
	}
	t.Skip("no Docker engine with the image airlock-sandbox:latest; run scripts/docker-engine.sh and make sandbox-image")
}

func openDockerSystem(t *testing.T) *client {
	t.Helper()
	needDocker(t)
	return openSystem(t, func(c *Config) {
		c.SandboxBackend, c.SandboxImage, c.SandboxTimeoutMs = "docker", "airlock-sandbox:latest", 240_000
	})
}

func (c *client) executeIn(t *testing.T, session, language, backend, code string) executed {
	t.Helper()
	var out executed
	body := map[string]any{"userId": "user123", "language": language, "code": code}
	if session != "" {
		body["sessionId"] = session
	}
	if backend != "" {
		body["backend"] = backend
	}
	if err := c.do(t.Context(), "/execute", body, &out); err != nil {
		t.Fatalf("execute %s: %v", language, err)
	}
	if out.Error != nil {
		t.Fatalf("%s ended with %s: %s: %s (line %d)\n%s%s", language, out.Status, out.Error.Name, out.Error.Message, out.Error.Line, out.Stdout, out.Stderr)
	}
	return out
}

const chartScript = `
import matplotlib
import matplotlib.pyplot as plt
import pandas as pd

rows = call_mcp_tool("database__query", {"query": "SELECT substr(date,1,7) AS month, SUM(amount) AS total FROM sales GROUP BY 1 ORDER BY 1"})
df = pd.DataFrame(rows)
fig, ax = plt.subplots(figsize=(8, 4))
ax.bar(df.month, df.total, color="#2266aa")
ax.set_title("Revenue by month")
ax.tick_params(axis="x", rotation=90)
fig.tight_layout()
fig.savefig("/artifacts/revenue.png", dpi=100)
result = {"months": len(df), "total": round(float(df.total.sum()), 2)}
`

func TestPythonChartFromAToolsData(t *testing.T) {
	t.Parallel()
	c := openDockerSystem(t)
	out := c.executeIn(t, "", "python", "", chartScript)
	var got struct {
		Months int
		Total  float64
	}
	if err := json.Unmarshal(out.Result, &got); err != nil {
		t.Fatalf("result %s: %v", out.Result, err)
	}
	var rows []struct{ Total float64 }
	c.query(t, "SELECT ROUND(SUM(amount), 2) AS total FROM sales", &rows)
	if got.Months != 24 || got.Total != rows[0].Total {
		t.Errorf("the script counted %+v, SQL says %v", got, rows[0].Total)
	}
	if len(out.Artifacts) != 1 || out.Artifacts[0].Name != "revenue.png" {
		t.Fatalf("artifacts are %+v", out.Artifacts)
	}
	picture, err := png.Decode(bytes.NewReader([]byte(c.download(t, "user123", "revenue.png"))))
	if err != nil {
		t.Fatalf("the chart is no PNG: %v", err)
	}
	blue := 0
	for x := range picture.Bounds().Dx() {
		for y := range picture.Bounds().Dy() {
			if r, g, b, _ := picture.At(x, y).RGBA(); r>>8 == 0x22 && g>>8 == 0x66 && b>>8 == 0xaa {
				blue++
			}
		}
	}
	if size := picture.Bounds(); size.Dx() != 800 || size.Dy() != 400 || blue < 10_000 {
		t.Errorf("the chart has %v pixels, %d of them in bars", size, blue)
	}
}

func TestOneSessionServesBothBackends(t *testing.T) {
	t.Parallel()
	c := openDockerSystem(t)
	first := c.executeIn(t, "", "javascript", "wasm", `
		await fs.writeFile("/workspace/from-js.txt", "js");
		await fs.writeFile("/skills/greet.py", '"""Greets."""\ndef greet(): return "hello from a skill"\n');
		return 1`)
	second := c.executeIn(t, first.SessionID, "python", "docker", `
import sys
sys.path.insert(0, "/skills")
from greet import greet
open("/workspace/from-py.txt", "w").write("py")
result = [open("/workspace/from-js.txt").read(), greet()]`)
	if got := compact(t, second.Result); got != `["js","hello from a skill"]` {
		t.Errorf("Python read %s", got)
	}
	third := c.executeIn(t, first.SessionID, "javascript", "wasm", `return await fs.readFile("/workspace/from-py.txt")`)
	if got := compact(t, third.Result); got != `"py"` {
		t.Errorf("JavaScript read %s", got)
	}
}

// TestLanguagesInContainersSeeTheSame runs one job in each language.
func TestLanguagesInContainersSeeTheSame(t *testing.T) {
	t.Parallel()
	c := openDockerSystem(t)
	const sql = `SELECT COUNT(*) AS n FROM customers`
	js := c.executeIn(t, "", "javascript", "docker", `return (await callMCPTool("database__query", {query: "`+sql+`"}))[0].n`)
	py := c.executeIn(t, js.SessionID, "python", "", `result = call_mcp_tool("database__query", {"query": "`+sql+`"})[0]["n"]`)
	sh := c.executeIn(t, js.SessionID, "bash", "", `mcp call database__query '{"query": "`+sql+`"}'`)
	if string(js.Result) != "500" || string(py.Result) != "500" || !strings.Contains(sh.Stdout, "500") {
		t.Errorf("JavaScript says %s, Python %s, bash %q", js.Result, py.Result, sh.Stdout)
	}
	mail := c.executeIn(t, js.SessionID, "python", "", `result = call_mcp_tool("database__query", {"query": "SELECT email FROM customers LIMIT 1"})[0]["email"]`)
	if !strings.HasPrefix(string(mail.Result), `"[EMAIL_`) {
		t.Errorf("Python was shown %s", mail.Result)
	}
}

// TestStubsInContainers calls a tool by its generated module, and finds the same
// text by reading.
func TestStubsInContainers(t *testing.T) {
	t.Parallel()
	c := openDockerSystem(t)
	py := c.executeIn(t, "", "python", "", `
import database
try:
    open("/tools/database.py", "a")
    written = True
except OSError:
    written = False
rows = database.query(query="SELECT COUNT(*) AS n FROM customers")
result = [rows[0]["n"], database.query.__doc__.split(chr(10))[0][:10] != "", written]`)
	if got := compact(t, py.Result); got != `[500,true,false]` {
		t.Errorf("Python got %s", got)
	}
	sh := c.executeIn(t, py.SessionID, "bash", "", `ls /tools; grep -c database__query /tools/database.d.ts; touch /tools/x 2>/dev/null || echo refused`)
	if got := strings.Fields(sh.Stdout); strings.Join(got, " ") != "database.d.ts database.py 1 refused" {
		t.Errorf("bash saw %q", sh.Stdout)
	}
}

func compact(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
