package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"go.uber.org/zap"

	"airlock/orchestrator/mcpserver"
)

// recording is all that a host was sent.
type recording struct {
	t      testing.TB
	to     io.Writer
	lines  *bufio.Scanner
	all    bytes.Buffer
	lastID int
}

func (r *recording) request(method string, params any) json.RawMessage {
	r.t.Helper()
	r.lastID++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.lastID, "method": method, "params": params})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.to.Write(append(text, '\n')); err != nil {
		r.t.Fatal(err)
	}
	for r.lines.Scan() {
		r.all.Write(append(r.lines.Bytes(), '\n'))
		var m struct {
			ID            *int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(r.lines.Bytes(), &m); err != nil {
			r.t.Fatalf("%v: %s", err, r.lines.Bytes())
		}
		if m.ID != nil && *m.ID == r.lastID {
			if m.Error != nil {
				r.t.Errorf("%s: %s", method, m.Error)
			}
			return m.Result
		}
	}
	r.t.Fatalf("%s was not answered: %v", method, r.lines.Err())
	return nil
}

func (r *recording) call(tool string, arguments any) {
	r.t.Helper()
	r.request("tools/call", map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{"progressToken": r.lastID}})
}

// TestHostSeesNoPersonalValue records a host's whole conversation about the sample
// shop, in which scripts bring personal values out by every way there is, and looks
// for each value of the shop in what the host was sent.
func TestHostSeesNoPersonalValue(t *testing.T) {
	t.Parallel()
	c := openSystem(t)
	var customers []map[string]any
	c.query(t, "SELECT * FROM customers", &customers)
	face, err := c.system.openMCP(zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	r, end := record(t, face)
	r.request("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "host", "version": "1"}})
	r.request("logging/setLevel", map[string]any{"level": "debug"})
	r.request("tools/list", map[string]any{})
	const rows = `const rows = await callMCPTool("database__query", {query: "SELECT * FROM customers"});`
	for _, code := range map[string]string{
		"a result":         rows + `return rows`,
		"output":           rows + `for (const r of rows) console.log(r, JSON.stringify(r)); console.error(rows[1].email)`,
		"an error":         rows + `throw new Error("cannot mail to " + rows.map((r) => r.email + " " + r.phone).join(", "))`,
		"keys":             rows + `return Object.fromEntries(rows.map((r) => [r.email, r.phone]))`,
		"a file's name":    rows + `await fs.writeFile("/artifacts/" + rows[2].email + ".csv", rows.map((r) => Object.values(r).join(";")).join("\n")); return 1`,
		"a file":           rows + `await fs.writeFile("/workspace/all.json", JSON.stringify(rows, null, 1)); return 1`,
		"a tool's name":    rows + `try { await callMCPTool(rows[3].email, {}) } catch (e) { return String(e) }`,
		"a tool's failure": rows + `return callMCPTool("database__query", {query: "SELECT " + rows[4].email + " FROM nothing"})`,
		"a skill":          rows + `await fs.writeFile("/skills/mailer.js", "// Mails to " + rows[5].email + ".\nmodule.exports = 1;\n"); return 1`,
		"an import":        rows + `return require(rows[6].email)`,
	} {
		r.call("execute_code", map[string]any{"code": code})
	}
	r.call("read_file", map[string]any{"file_path": "/workspace/all.json", "line_count": 400})
	r.call("list_mcp_tools", map[string]any{"detail": "full"})
	r.call("write_file", map[string]any{"file_path": "/workspace/x.txt", "content": "no value of the shop"})
	var list struct{ Resources []struct{ URI string } }
	if err := json.Unmarshal(r.request("resources/list", map[string]any{}), &list); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, resource := range list.Resources {
		if strings.HasPrefix(resource.URI, "airlock://artifacts/") {
			read++
		}
		r.request("resources/read", map[string]any{"uri": resource.URI})
	}
	if read == 0 {
		t.Error("there was no artifact to read")
	}
	r.request("prompts/get", map[string]any{"name": "agent_system_prompt", "arguments": map[string]string{"task": "who are our customers?"}})
	end()

	all := r.all.String()
	values := 0
	for _, customer := range customers {
		for _, column := range []string{"name", "email", "phone", "address"} {
			text, ok := customer[column].(string)
			if !ok {
				continue // some have no phone
			}
			values++
			if strings.Contains(all, text) {
				at := strings.Index(all, text)
				t.Errorf("the host was sent a customer's %s: ...%.160s", column, all[max(0, at-80):])
				return
			}
		}
	}
	if values < 2*len(customers) || len(customers) < 100 || strings.Count(all, "[EMAIL_") < 100 {
		t.Errorf("%d values of %d customers were looked for, in %d bytes", values, len(customers), len(all))
	}
}

// record connects a host to a face.
func record(t testing.TB, face *mcpserver.Server) (r *recording, end func()) {
	t.Helper()
	fromHost, toFace := io.Pipe()
	fromFace, toHost := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- face.ServeStdio(t.Context(), "ann", fromHost, toHost); _ = toHost.Close() }()
	r = &recording{t: t, to: toFace, lines: bufio.NewScanner(fromFace)}
	r.lines.Buffer(nil, 32<<20)
	return r, func() {
		_ = toFace.Close()
		for r.lines.Scan() {
			r.all.Write(r.lines.Bytes())
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
}
