package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"airlock/pii"
	"airlock/runtime/sandbox"
)

// decides answers the questions of a server in the user's place.
type decides struct {
	action mcp.ElicitationResponseAction
	mu     sync.Mutex // guards asked
	asked  []string
}

func (d *decides) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.Params.Message)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: d.action}}, nil
}

// overBoth runs a test with mcp-go's client as the host, over both transports.
func overBoth(t *testing.T, run scriptFunc, test func(t *testing.T, host *client.Client), options ...client.ClientOption) {
	t.Helper()
	options = append(options, client.WithProtocolVersion(mcp.ProtocolVersion20251125))
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		face := newFace(t, run)
		fromHost, toFace := io.Pipe()
		fromFace, toHost := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- face.ServeStdio(t.Context(), "ann", fromHost, toHost); _ = toHost.Close() }()
		host := client.NewClient(transport.NewIO(fromFace, toFace, io.NopCloser(strings.NewReader(""))), options...)
		connect(t, host)
		test(t, host)
		if err := host.Close(); err != nil {
			t.Errorf("close the host: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		url := serveHTTP(t, newFace(t, run))
		way, err := transport.NewStreamableHTTP(url, transport.WithContinuousListening()) //nolint:staticcheck // of the revision that is served
		if err != nil {
			t.Fatal(err)
		}
		host := client.NewClient(way, options...)
		connect(t, host)
		test(t, host)
		if err := host.Close(); err != nil {
			t.Errorf("close the host: %v", err)
		}
	})
}

func connect(t *testing.T, host *client.Client) {
	t.Helper()
	if err := host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var r mcp.InitializeRequest
	r.Params.ProtocolVersion, r.Params.ClientInfo = mcp.ProtocolVersion20251125, mcp.Implementation{Name: "test", Version: "1"}
	if _, err := host.Initialize(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func callTool(t *testing.T, host *client.Client, name string, arguments any) *mcp.CallToolResult {
	t.Helper()
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = name, arguments
	result, err := host.CallTool(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return result
}

// words are the texts of a result.
func words(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

const anns = "ann.lee@example.org"

func TestHostRunsScripts(t *testing.T) {
	t.Parallel()
	run := func(_ context.Context, x sandbox.Execution) sandbox.Result {
		switch x.Code {
		case "fail":
			return sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{Name: "Error", Message: pii.NewRaw("no " + anns), Line: 3, Hint: "look"}}
		case "chart":
			for name, data := range map[string]string{"chart.png": "\x89PNG\r\n\x1a\n\x00", "fake.png": "just text", "list of " + anns + ".csv": anns} {
				if err := x.Files.WriteFile("/artifacts/"+name, []byte(data)); err != nil {
					return sandbox.Result{Reason: sandbox.ReasonKilled, Error: &sandbox.ScriptError{Name: err.Error()}}
				}
			}
		}
		x.Output(sandbox.Stdout, pii.NewRaw("to "+anns+"\n"))
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(`{"mail":"` + anns + `"}`), Stdout: pii.NewRaw("to " + anns + "\n")}
	}
	overBoth(t, run, func(t *testing.T, host *client.Client) {
		ok := callTool(t, host, "execute_code", map[string]any{"code": "x"})
		var fields struct {
			Status string
			Result struct{ Mail string }
		}
		if err := json.Unmarshal([]byte(words(ok)), &fields); err != nil || ok.IsError || fields.Status != "ok" || !strings.HasPrefix(fields.Result.Mail, "[EMAIL_1_") {
			t.Errorf("the script gives %+v, %v", ok, err)
		}
		if s, err := json.Marshal(ok.StructuredContent); err != nil || !strings.Contains(string(s), fields.Result.Mail) {
			t.Errorf("structured it is %s, %v", s, err)
		}
		failed := callTool(t, host, "execute_code", map[string]any{"code": "fail"})
		if said := words(failed); !failed.IsError || strings.Contains(said, anns) || !strings.Contains(said, `"hint":"look"`) || !strings.Contains(said, `"line":3`) {
			t.Errorf("a failure gives %+v", failed)
		}
		if bash := callTool(t, host, "execute_bash", map[string]any{"command": "ls"}); !bash.IsError || !strings.Contains(words(bash), "sandbox-image") {
			t.Errorf("bash without docker gives %+v", bash)
		}
		for name, arguments := range map[string]any{"no code": map[string]any{}, "a wrong language": map[string]any{"code": "x", "language": "cobol"}, "too long": map[string]any{"code": "x", "timeout": 1e9}, "a negative time": map[string]any{"code": "x", "timeout": -1}} {
			if got := callTool(t, host, "execute_code", arguments); !got.IsError {
				t.Errorf("%s is taken: %+v", name, got)
			}
		}
		chart := callTool(t, host, "execute_code", map[string]any{"code": "chart"})
		pictures, links := 0, map[string]bool{}
		for _, c := range chart.Content {
			switch c := c.(type) {
			case mcp.ImageContent:
				pictures++
			case mcp.ResourceLink:
				links[c.Name] = true
			}
		}
		if pictures != 1 || len(links) != 3 || !links["chart.png"] || links["list of "+anns+".csv"] {
			t.Errorf("the chart comes as %d pictures with links to %v", pictures, links)
		}
	})
}

func TestHostFollowsScripts(t *testing.T) {
	t.Parallel()
	const lines = 300
	run := func(_ context.Context, x sandbox.Execution) sandbox.Result {
		for i := range lines {
			x.Output(sandbox.Stdout, pii.NewRaw(fmt.Sprintf("line %d\n", i)))
		}
		return sandbox.Result{Reason: sandbox.ReasonOK}
	}
	overBoth(t, run, func(t *testing.T, host *client.Client) {
		var mu sync.Mutex
		var got, logged []string
		last := 0.0
		host.OnNotification(func(n mcp.JSONRPCNotification) {
			mu.Lock()
			defer mu.Unlock()
			switch n.Method {
			case string(mcp.MethodNotificationProgress):
				got = append(got, n.Params.AdditionalFields["message"].(string))
				if now := n.Params.AdditionalFields["progress"].(float64); now <= last {
					t.Errorf("progress %v follows %v", now, last)
				} else {
					last = now
				}
			case string(mcp.MethodNotificationMessage):
				logged = append(logged, n.Params.AdditionalFields["data"].(string))
			}
		})
		var level mcp.SetLevelRequest
		level.Params.Level = mcp.LoggingLevelInfo
		if err := host.SetLevel(t.Context(), level); err != nil { //nolint:staticcheck // likewise
			t.Fatal(err)
		}
		var r mcp.CallToolRequest
		r.Params.Name, r.Params.Arguments, r.Params.Meta = "execute_code", map[string]any{"code": "x"}, &mcp.Meta{ProgressToken: "p"}
		if _, err := host.CallTool(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if all := strings.Join(got, ""); len(got) == 0 || !strings.HasPrefix(all, "the script has started") || !strings.HasSuffix(all, fmt.Sprintf("line %d\n", lines-1)) || strings.Count(all, "line") != lines {
			t.Errorf("by the call's end %d notifications told %d lines of %d", len(got), strings.Count(all, "line"), lines)
		}
		if all := strings.Join(logged, ""); strings.Count(all, "line") != lines || strings.Contains(all, "started") {
			t.Errorf("%d lines were logged", strings.Count(all, "line"))
		}
	})
}

func TestHostCancelsScripts(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	run := func(ctx context.Context, _ sandbox.Execution) sandbox.Result {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return sandbox.Result{Reason: sandbox.ReasonCancelled, Error: &sandbox.ScriptError{Name: "Cancelled"}}
	}
	for _, way := range []string{"stdio", "http"} {
		h := newRawHost(t, newFace(t, run), way)
		h.send(`{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"execute_code","arguments":{"code":"x"}}}`)
		<-begun
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody's"}}`)
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long"}}`)
		<-ended
		if answer := h.answer(`"long"`); !strings.Contains(answer, "cancelled") {
			t.Errorf("%s: the cancelled call was answered %s", way, answer)
		}
	}
}

func TestHostAsksItsUser(t *testing.T) {
	t.Parallel()
	run := func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(callBridge(ctx, x, "files__delete", `{"of":"`+anns+`"}`))}
	}
	for _, tc := range []struct {
		action mcp.ElicitationResponseAction
		says   string
	}{
		{mcp.ElicitationResponseActionAccept, "gone"},
		{mcp.ElicitationResponseActionDecline, "approval_denied"},
		{mcp.ElicitationResponseActionCancel, "approval_missing"},
	} {
		user := &decides{action: tc.action}
		overBoth(t, run, func(t *testing.T, host *client.Client) {
			got := words(callTool(t, host, "execute_code", map[string]any{"code": "x"}))
			user.mu.Lock()
			defer user.mu.Unlock()
			if !strings.Contains(got, tc.says) || len(user.asked) == 0 {
				t.Errorf("%s: the script got %s after %d questions", tc.action, got, len(user.asked))
			}
			if all := strings.Join(user.asked, ""); strings.Contains(all, anns) || !strings.Contains(all, "files__delete") {
				t.Errorf("the user was asked %s", all)
			}
		}, client.WithElicitationHandler(user))
	}
	t.Run("a host that cannot ask", func(t *testing.T) {
		t.Parallel()
		overBoth(t, run, func(t *testing.T, host *client.Client) {
			if got := words(callTool(t, host, "execute_code", map[string]any{"code": "x"})); !strings.Contains(got, "approval_unavailable") {
				t.Errorf("the script got %s", got)
			}
		})
	})
}

func TestHostUsesFilesAndTools(t *testing.T) {
	t.Parallel()
	overBoth(t, returns("1"), func(t *testing.T, host *client.Client) {
		if got := callTool(t, host, "write_file", map[string]any{"file_path": "/workspace/a.py", "content": "def f(x):\n    \"\"\"Mails " + anns + ".\"\"\"\n    return x\n"}); got.IsError {
			t.Errorf("write: %+v", got)
		}
		part := callTool(t, host, "read_file", map[string]any{"file_path": "/workspace/a.py", "offset": 1, "line_count": 1})
		if said := words(part); strings.Contains(said, anns) || !strings.Contains(said, "[EMAIL_1_") || !strings.Contains(said, "Lines 2 to 2 of 3; go on with offset 2") {
			t.Errorf("read: %s", said)
		}
		if got := words(callTool(t, host, "read_docstring", map[string]any{"file_path": "/workspace/a.py", "function_name": "f"})); !strings.HasPrefix(got, "def f(x):\n\nMails [EMAIL_1_") {
			t.Errorf("the docstring is %q", got)
		}
		for name, bad := range map[string]*mcp.CallToolResult{
			"no function":  callTool(t, host, "read_docstring", map[string]any{"file_path": "/workspace/a.py", "function_name": "g"}),
			"no file":      callTool(t, host, "read_file", map[string]any{"file_path": "/workspace/b.py"}),
			"outside":      callTool(t, host, "read_file", map[string]any{"file_path": "/etc/passwd"}),
			"read-only":    callTool(t, host, "write_file", map[string]any{"file_path": "/tools/x", "content": ""}),
			"no such tool": callTool(t, host, "get_mcp_tool_details", map[string]any{"name": "files__nothing"}),
		} {
			if said := words(bad); !bad.IsError || !strings.Contains(said, "Hint: ") {
				t.Errorf("%s: %+v", name, bad)
			}
		}
		if got := words(callTool(t, host, "list_mcp_tools", map[string]any{})); !strings.Contains(got, `"files__delete"`) {
			t.Errorf("the tools are %s", got)
		}
		if got := words(callTool(t, host, "get_mcp_tool_details", map[string]any{"name": "files__delete"})); !strings.Contains(got, "Deletes a file.") {
			t.Errorf("the details are %s", got)
		}
		var r mcp.GetPromptRequest
		r.Params.Name, r.Params.Arguments = "agent_system_prompt", map[string]string{"task": "mail " + anns}
		prompt, err := host.GetPrompt(t.Context(), r)
		if err != nil || len(prompt.Messages) != 1 || !strings.Contains(prompt.Messages[0].Content.(mcp.TextContent).Text, "execute_code") {
			t.Errorf("the prompt is %+v, %v", prompt, err)
		}
	})
}

func TestHostReadsResources(t *testing.T) {
	t.Parallel()
	overBoth(t, returns("1"), func(t *testing.T, host *client.Client) {
		ctx := t.Context()
		changed := make(chan string, 100)
		host.OnNotification(func(n mcp.JSONRPCNotification) {
			uri, _ := n.Params.AdditionalFields["uri"].(string)
			changed <- n.Method + " " + uri
		})
		write := func(path, content string) {
			if got := callTool(t, host, "write_file", map[string]any{"file_path": path, "content": content}); got.IsError {
				t.Fatalf("write %s: %+v", path, got)
			}
		}
		write("/artifacts/re port/"+anns+" a.txt", "to "+anns)
		if got := <-changed; got != "notifications/resources/list_changed " {
			t.Errorf("after a new artifact comes %q", got)
		}
		list, err := host.ListResources(ctx, mcp.ListResourcesRequest{})
		if err != nil || len(list.Resources) != 1 || strings.Contains(list.Resources[0].URI+list.Resources[0].Name, anns) {
			t.Fatalf("the resources are %+v, %v", list, err)
		}
		uri := list.Resources[0].URI
		var read mcp.ReadResourceRequest
		read.Params.URI = uri
		got, err := host.ReadResource(ctx, read)
		if err != nil || len(got.Contents) != 1 || !strings.HasPrefix(got.Contents[0].(mcp.TextResourceContents).Text, "to [EMAIL_1_") {
			t.Errorf("the artifact reads %+v, %v", got, err)
		}
		var subscribe mcp.SubscribeRequest
		subscribe.Params.URI = uri
		if err := host.Subscribe(ctx, subscribe); err != nil { //nolint:staticcheck // likewise
			t.Fatal(err)
		}
		write("/artifacts/re port/"+anns+" a.txt", "more")
		if first, second := <-changed, <-changed; first != "notifications/resources/list_changed " || second != "notifications/resources/updated "+uri {
			t.Errorf("after a change come %q and %q", first, second)
		}
		for _, unknown := range []string{"airlock://artifacts/none", "airlock://skills/none", "airlock://artifacts/../x", "airlock://artifacts/%2e%2e%2fx", "airlock://other/x", "file:///etc/passwd"} {
			read.Params.URI = unknown
			if got, err := host.ReadResource(ctx, read); !errors.Is(err, mcp.ErrResourceNotFound) {
				t.Errorf("%s reads %+v, %v", unknown, got, err)
			}
		}
		write("/skills/adder.js", "// Adds two numbers.\nmodule.exports = (a, b) => a + b;\n")
		read.Params.URI = "airlock://skills/adder"
		if got, err := host.ReadResource(ctx, read); err != nil || !strings.Contains(got.Contents[0].(mcp.TextResourceContents).Text, "Adds two") {
			t.Errorf("the skill reads %+v, %v", got, err)
		}
		templates, err := host.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
		if err != nil || len(templates.ResourceTemplates) != 2 {
			t.Errorf("the templates are %+v, %v", templates, err)
		}
	})
}

func TestListsHavePages(t *testing.T) {
	t.Parallel()
	run := func(_ context.Context, x sandbox.Execution) sandbox.Result {
		for i := range maxListed + 20 {
			if err := x.Files.WriteFile(fmt.Sprintf("/artifacts/%03d/same.txt", i), nil); err != nil {
				return sandbox.Result{Reason: sandbox.ReasonKilled, Error: &sandbox.ScriptError{Name: err.Error()}}
			}
		}
		return sandbox.Result{Reason: sandbox.ReasonOK}
	}
	overBoth(t, run, func(t *testing.T, host *client.Client) {
		callTool(t, host, "execute_code", map[string]any{"code": "x"})
		seen := map[string]bool{}
		var page mcp.ListResourcesRequest
		for {
			list, err := host.ListResourcesByPage(t.Context(), page)
			if err != nil || len(list.Resources) > maxListed {
				t.Fatalf("a page of %d, %v", len(list.Resources), err)
			}
			for _, r := range list.Resources {
				seen[r.URI] = true
			}
			if list.NextCursor == "" {
				break
			}
			page.Params.Cursor = list.NextCursor
		}
		if len(seen) != maxListed+20 {
			t.Errorf("the pages list %d resources", len(seen))
		}
	})
}
