package canary

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// shop is the MCP server of the test. Its tools tell the values of their crossing.
type shop struct {
	plant *planting
	url   string

	mu    sync.Mutex // guards mails
	mails []string   // what it was given to send
}

func newShop(t *testing.T, plant *planting) *shop {
	t.Helper()
	s := &shop{plant: plant}
	m := server.NewMCPServer("crm", "1.0.0")
	for name, answer := range map[string]func(n int) (*mcp.CallToolResult, error){
		"lookup": s.lookup, "export": s.export, "nested": s.nested, "keys": s.keys, "fail": s.fail, "crash": s.crash, "resource": s.resource,
		"hidden": s.hidden("hidden"), "hidden_error": s.hidden("hidden error"), "hidden_file": s.hidden("hidden file"),
	} {
		m.AddTool(s.tool(name), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer(r.GetInt("round", 0))
		})
	}
	m.AddTool(s.tool("mail"), s.mail)
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	t.Cleanup(web.Close)
	s.url = web.URL + "/mcp"
	return s
}

// tool describes itself with values wherever a description can hold one.
func (s *shop) tool(name string) mcp.Tool {
	var says strings.Builder
	for i, v := range s.plant.values("description", 0) {
		says.WriteString(v.Sentence(uint64(i)) + " ")
	}
	properties := map[string]any{"round": map[string]any{"type": "integer"}, "to": map[string]any{"type": "string", "maxLength": 200}}
	for i, v := range s.plant.alone("schema", 0) {
		field := map[string]any{"type": "string"}
		switch i % 5 {
		case 0:
			field["description"] = "such as " + v.Text
		case 1:
			field["default"] = v.Text
		case 2:
			field["enum"] = []string{"none", v.Text}
		case 3:
			field["examples"] = []string{v.Text}
		case 4:
			properties[v.Text] = field
			continue
		}
		properties["p"+string(rune('a'+i))] = field
	}
	schema := encode(map[string]any{"type": "object", "properties": properties, "required": []string{"round"}})
	t := mcp.NewToolWithRawSchema(name, says.String(), json.RawMessage(schema))
	t.Title = "of " + s.plant.alone("description", 0)[0].Text
	return t
}

// lookup answers with both copies of its rows.
func (s *shop) lookup(n int) (*mcp.CallToolResult, error) {
	row := record(s.plant.values("rows", n))
	row["first"] = s.plant.values("rows", n)[0].Text
	rows := map[string]any{"rows": []any{row}}
	return mcp.NewToolResultStructured(rows, encode(rows)), nil
}

// export answers in prose and lines of a log.
func (s *shop) export(n int) (*mcp.CallToolResult, error) {
	var b strings.Builder
	for i, v := range s.plant.values("text", n) {
		b.WriteString(v.Sentence(uint64(i)) + "\n")
	}
	return mcp.NewToolResultText(b.String()), nil
}

// nested answers with JSON in strings of JSON, two deep.
func (s *shop) nested(n int) (*mcp.CallToolResult, error) {
	row := encode(record(s.plant.values("nested", n)))
	return mcp.NewToolResultText(encode(map[string]any{"body": row, "outer": encode(map[string]string{"inner": row})})), nil
}

// keys answers with values as the keys of an object.
func (s *shop) keys(n int) (*mcp.CallToolResult, error) {
	balances := map[string]any{}
	for i, v := range s.plant.alone("keys", n) {
		balances[v.Text] = i
	}
	return mcp.NewToolResultStructured(balances, encode(balances)), nil
}

func (s *shop) fail(n int) (*mcp.CallToolResult, error) {
	var b strings.Builder
	for i, v := range s.plant.values("errors", n) {
		b.WriteString(v.Sentence(uint64(i)) + "\n")
	}
	return mcp.NewToolResultError(b.String()), nil
}

// crash fails as a call of the protocol does.
func (s *shop) crash(n int) (*mcp.CallToolResult, error) {
	var b strings.Builder
	for i, v := range s.plant.values("failures", n) {
		b.WriteString(v.Sentence(uint64(i)) + "\n")
	}
	return nil, errors.New(b.String())
}

func (s *shop) resource(n int) (*mcp.CallToolResult, error) {
	first := s.plant.alone("resource", n)[0].Text
	return mcp.NewToolResultResource("see "+first, mcp.TextResourceContents{
		URI: "file:///users/" + first, MIMEType: "application/json", Text: encode(record(s.plant.values("resource", n))),
	}), nil
}

// hidden answers with values that no detector can see: as numbers of characters.
func (s *shop) hidden(crossing string) func(n int) (*mcp.CallToolResult, error) {
	return func(n int) (*mcp.CallToolResult, error) {
		var all [][]int
		for _, v := range s.plant.alone(crossing, n) {
			var codes []int
			for _, c := range v.Text {
				codes = append(codes, int(c)+5000)
			}
			all = append(all, codes)
		}
		return mcp.NewToolResultStructuredOnly(map[string]any{"codes": all}), nil
	}
}

// mail takes what is to be sent.
func (s *shop) mail(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, r.GetString("to", ""))
	return mcp.NewToolResultText("sent"), nil
}

// checkReleased fails unless tools were given real values.
func (s *shop) checkReleased(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range rounds {
		want := s.plant.values("rows", n)[0].Text
		got := 0
		for _, to := range s.mails {
			if to == want {
				got++
			}
		}
		if got < 2 {
			t.Errorf("the tool was given the real value of round %d %d times, of 2 calls", n, got)
		}
	}
}
