package helpers

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// text is an MCP result of text blocks.
func text(texts ...string) map[string]any {
	blocks := []any{}
	for _, one := range texts {
		blocks = append(blocks, map[string]any{"type": "text", "text": one})
	}
	return map[string]any{"content": blocks}
}

// calling is a script with one tool, "a__b", that answers so.
func calling(code string, body any) script {
	return script{Script: code, Bridge: map[string]answer{"POST /v1/tools/a__b/call": {Body: body}}}
}

func TestToolResultsAreDecoded(t *testing.T) {
	const call = `return await callMCPTool("a__b", {x: 1})`
	image := map[string]any{"type": "image", "data": "aGk=", "mimeType": "image/png"}
	structured := text("ignored")
	structured["structuredContent"] = map[string]any{"n": 1}
	runTests(t, []test{
		{name: "structured content wins", script: calling(call, structured), want: `{"n":1}`},
		{name: "a text that is JSON is parsed", script: calling(call, text(`[{"id":1},{"id":2}]`)), want: `[{"id":1},{"id":2}]`},
		{name: "another text is a string", script: calling(call, text("hello {")), want: `"hello {"`},
		{name: "several blocks are an array", script: calling(call, text("one", "2")), want: `["one",2]`},
		{name: "no block is null", script: calling(call, text()), want: `null`},
		{name: "an image becomes a file", script: calling(call, map[string]any{"content": []any{image}}),
			want: `{"path":"/workspace/a__b-1.png","mimeType":"image/png"}`,
			check: func(t *testing.T, got outcome) {
				if got.Files["/workspace/a__b-1.png"] != "hi" {
					t.Errorf("files are %v", got.Files)
				}
			}},
		{name: "a second image gets another name", script: calling(`await callMCPTool("a__b"); `+call, map[string]any{"content": []any{image}}),
			want: `{"path":"/workspace/a__b-2.png","mimeType":"image/png"}`},
		{name: "big whole numbers keep their digits", script: calling(call, text(`{"id":12345678901234567890,"n":1.5e300,"m":[9007199254740993]}`)),
			want: `{"id":"12345678901234567890","n":1.5e+300,"m":["9007199254740993"]}`, only: "quickjs"},
		{name: "an embedded text resource stays what it is", script: calling(call, map[string]any{"content": []any{
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "x://1", "text": "t"}}}}), want: `{"text":"t","uri":"x://1"}`},
		{name: "raw is the result itself", script: calling(`return await callMCPTool("a__b", {}, {raw: true})`, text("1")),
			want: `{"content":[{"text":"1","type":"text"}]}`},
		{name: "mcp.server.tool is the same", script: calling(`return await mcp.a.b({x: 1})`, text("1")), want: `1`},
		{name: "a proxy can be awaited", script: calling(`const server = await mcp.a; return await (await server.b)({})`, text("1")), want: `1`},
	})
}

func TestToolArguments(t *testing.T) {
	sends := func(body string) func(*testing.T, outcome) {
		return func(t *testing.T, got outcome) {
			if len(got.Calls) != 1 || got.Calls[0].Body != body {
				t.Errorf("calls are %+v, want the body %s", got.Calls, body)
			}
		}
	}
	runTests(t, []test{
		{name: "an object is sent as JSON", script: calling(`await callMCPTool("a__b", {s: "é\n", n: [1.5, null], u: undefined})`, text()),
			check: sends(`{"arguments":{"s":"é\n","n":[1.5,null]}}`)},
		{name: "none is an empty object", script: calling(`await callMCPTool("a__b")`, text()), check: sends(`{"arguments":{}}`)},
		{name: "a BigInt is a bare number", script: calling(`await callMCPTool("a__b", {id: 12345678901234567890n})`, text()), check: sends(`{"arguments":{"id":12345678901234567890}}`)},
		{name: "a date is ISO text", script: calling(`await callMCPTool("a__b", {at: new Date(0)})`, text()), check: sends(`{"arguments":{"at":"1970-01-01T00:00:00.000Z"}}`)},
		{name: "a string is refused", script: js(`await callMCPTool("a__b", "select 1")`), fails: "TypeError: the arguments of a__b must be an object"},
		{name: "an array is refused", script: js(`await mcp.a.b([1])`), fails: "TypeError: the arguments of a__b must be an object"},
		{name: "a promise is refused by place", script: js(`await callMCPTool("a__b", {rows: [fs.exists("/workspace")]})`), fails: "TypeError: arguments.rows[0] is a Promise and cannot become JSON; await it first"},
		{name: "a missing name is refused", script: js(`await callMCPTool()`), fails: "TypeError: callMCPTool needs a tool's name"},
	})
}

func TestToolErrors(t *testing.T) {
	refused := map[string]answer{"POST /v1/tools/a__b/call": {Status: 403, Body: map[string]any{
		"error": map[string]any{"code": "release_refused", "message": "not to this server", "hint": "set release"}}}}
	failed := text("no such table", "try again")
	failed["isError"] = true
	runTests(t, []test{
		{name: "a tool's own error is thrown", script: calling("\nawait callMCPTool('a__b', {})", failed), fails: "MCPToolError: no such table\ntry again",
			check: func(t *testing.T, got outcome) {
				if got.Error.Tool != "a__b" || !strings.Contains(string(got.Error.Content), `"no such table"`) {
					t.Errorf("error is %+v", got.Error)
				}
				if !strings.Contains(got.Error.Stack, "script:2:") || strings.Contains(got.Error.Stack, "airlock:") {
					t.Errorf("stack is %q, want the script's own line only", got.Error.Stack)
				}
			}},
		{name: "raw does not throw it", script: calling(`return (await callMCPTool("a__b", {}, {raw: true})).isError`, failed), want: "true"},
		{name: "a script can tell it", script: calling(`try { await mcp.a.b() } catch (e) { return [e instanceof MCPToolError, e instanceof Error, e.name, e.tool, e.content.length] }`, failed),
			want: `[true,true,"MCPToolError","a__b",2]`},
		{name: "a refusal is a bridge error", script: script{Script: "\n\nawait callMCPTool('a__b', {})", Bridge: refused}, fails: "BridgeError: not to this server",
			check: func(t *testing.T, got outcome) {
				if got.Error.Code != "release_refused" || got.Error.Hint != "set release" || !strings.Contains(got.Error.Stack, "script:3:") {
					t.Errorf("error is %+v", got.Error)
				}
			}},
		{name: "an answer that is not JSON is one, too", script: script{Script: "await callMCPTool('a__b')", Bridge: map[string]answer{"POST *": {Status: 502, Body: "<html>"}}},
			fails: "BridgeError: the bridge answered 502 with something that is not JSON"},
	})
}

func TestDiscovery(t *testing.T) {
	list := func(body any) map[string]answer { return map[string]answer{"GET *": {Body: body}} }
	path := func(want string) func(*testing.T, outcome) {
		return func(t *testing.T, got outcome) {
			if len(got.Calls) != 1 || got.Calls[0].Path != want {
				t.Errorf("calls are %+v, want the path %s", got.Calls, want)
			}
		}
	}
	names := map[string]any{"tools": []string{"a__b", "c__d"}, "total": 2}
	objects := map[string]any{"tools": []any{map[string]any{"name": "a__b"}}, "total": 1}
	runTests(t, []test{
		{name: "no query gives names", script: script{Script: `return await list_mcp_tools()`, Bridge: list(names)}, want: `["a__b","c__d"]`, check: path("/v1/tools?detail=name")},
		{name: "names also from objects", script: script{Script: `return await list_mcp_tools({server: "a"})`, Bridge: list(objects)}, want: `["a__b"]`, check: path("/v1/tools?detail=name&server=a")},
		{name: "a query gives summaries", script: script{Script: `return await list_mcp_tools({query: "sales & more", limit: 5})`, Bridge: list(objects)},
			want: `[{"name":"a__b"}]`, check: path("/v1/tools?detail=summary&query=sales%20%26%20more&limit=5")},
		{name: "all pages of names", script: script{Script: `return await list_mcp_tools()`, Bridge: map[string]answer{
			"GET /v1/tools?detail=name":            {Body: map[string]any{"tools": []string{"a__b"}, "nextCursor": "1.2"}},
			"GET /v1/tools?detail=name&cursor=1.2": {Body: map[string]any{"tools": []string{"c__d"}}}}}, want: `["a__b","c__d"]`},
		{name: "a limit takes one page", script: script{Script: `return await list_mcp_tools({limit: 1})`, Bridge: list(map[string]any{"tools": []string{"a__b"}, "nextCursor": "1.2"})}, want: `["a__b"]`},
		{name: "a server that is down is told of", script: script{Script: `return await list_mcp_tools()`, Bridge: list(map[string]any{"tools": []string{}, "unavailable": []any{map[string]any{"server": "git", "message": "no uvx"}}})},
			want: `[]`, stderr: "list_mcp_tools: the server git is not available now: no uvx\n"},
		{name: "that nothing fits is told of", script: script{Script: `return await list_mcp_tools({query: "x"})`, Bridge: list(map[string]any{"tools": []any{map[string]any{"name": "a__b", "score": 0.1, "fits": false}}, "fits": false})},
			want: `[{"fits":false,"name":"a__b","score":0.1}]`, stderr: "list_mcp_tools: no tool seems to do that; what is listed are guesses\n"},
		{name: "details", script: script{Script: `return (await get_mcp_tool_details("a__b")).description`, Bridge: map[string]answer{"GET /v1/tools/a__b": {Body: map[string]any{"description": "d"}}}}, want: `"d"`},
		{name: "pii asks the host", script: script{Script: `return [await pii.attr("[EMAIL_1_k7q2f]", "domain"), await pii.same("a", "b"), await pii.rank(["a"])]`, Bridge: map[string]answer{
			"POST /v1/pii/attr": {Body: map[string]any{"value": "d"}}, "POST /v1/pii/same": {Body: map[string]any{"same": true}}, "POST /v1/pii/rank": {Body: map[string]any{"ranks": []int{1}}}}},
			want: `["d",true,[1]]`},
	})
}

// The example that the product was promised with runs as it is written.
func TestSeedScriptRuns(t *testing.T) {
	code, err := os.ReadFile("testdata/seed_script.js")
	if err != nil {
		t.Fatal(err)
	}
	details, _ := json.Marshal(map[string]any{"name": "database__query", "description": "Runs a query"})
	bridge := map[string]answer{
		"GET /v1/tools?detail=name":           {Body: map[string]any{"tools": []string{"database__query"}}},
		"GET /v1/tools/database__query":       {Body: string(details)},
		"POST /v1/tools/database__query/call": {Body: text(`[{"amount":10.5},{"amount":4.5}]`)},
	}
	runTests(t, []test{{
		name: "as written", script: script{Script: string(code), Bridge: bridge},
		want:   `{"summary":{"total":15,"count":2},"totalSales":15,"count":2}`,
		stdout: "Available tools: [ 'database__query' ]\nTool info: Runs a query\n",
		check: func(t *testing.T, got outcome) {
			saved := got.Files["/skills/sales_summary.js"]
			if !strings.Contains(saved, "module.exports = async function summarizeSales(data)") {
				t.Errorf("saved skill is %q", saved)
			}
		},
	}})
}
