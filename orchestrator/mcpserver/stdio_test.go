package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestStdioAnswersWhatIsWrong(t *testing.T) {
	t.Parallel()
	h := newRawHost(t, newFace(t, returns("1")), "stdio")
	h.send("garbage")
	if answer := h.answer("null"); !strings.Contains(answer, "-32700") {
		t.Errorf("garbage is answered %s", answer)
	}
	h.send(`{"jsonrpc":"2.0","id":"long","method":"ping","x":"` + strings.Repeat("y", maxMessage) + `"}`)
	h.send(`[]`)
	h.send("")
	h.send(`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
	if answer := h.answer(`"after"`); !strings.Contains(answer, `"result":{}`) {
		t.Errorf("after all that a ping is answered %s", answer)
	}
	h.send(`{"jsonrpc":"2.0","id":5,"method":"nothing/here"}`)
	if answer := h.answer("5"); !strings.Contains(answer, "-32601") {
		t.Errorf("an unknown method is answered %s", answer)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if all := strings.Join(h.all, ""); !strings.Contains(all, "longer than") || strings.Count(all, "-32600") != 2 {
		t.Errorf("all answers are %s", all)
	}
}

// TestStdioAnswersBeforeItEnds closes standard input right after the requests, as a
// shell's pipe does.
func TestStdioAnswersBeforeItEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := strings.NewReader(initialize + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"x"}}}`)
	if err := newFace(t, returns("42")).ServeStdio(t.Context(), "ann", in, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"result":42`) {
		t.Errorf("the answers are %s", out.String())
	}
}

func TestStdioEndsWithItsHost(t *testing.T) {
	t.Parallel()
	in, _ := io.Pipe()
	err := newFace(t, returns("1")).ServeStdio(t.Context(), "ann", io.MultiReader(strings.NewReader(initialize+"\n"), in), brokenPipe{})
	if err == nil || !strings.Contains(err.Error(), "write to the host") {
		t.Errorf("a host that is gone: %v", err)
	}
	_ = in.Close()
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// maxToolTokens is what a host's model may have to read of all tools.
const maxToolTokens = 1200

func TestToolsAreShort(t *testing.T) {
	t.Parallel()
	face := newFace(t, returns("1"))
	var all []mcp.Tool
	for _, tool := range face.mcp.ListTools() {
		all = append(all, tool.Tool)
	}
	text, err := json.Marshal(all)
	if err != nil || len(all) != 7 {
		t.Fatalf("%d tools, %v", len(all), err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(string(text))
	if err != nil || n > maxToolTokens {
		t.Errorf("the tools take %d tokens, %v; they may take %d", n, err, maxToolTokens)
	}
	t.Logf("%d tokens", n)
}
