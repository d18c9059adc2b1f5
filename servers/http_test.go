package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// TestLegacySSE speaks with mcp-go's own server for the older transport.
func TestLegacySSE(t *testing.T) {
	t.Parallel()
	echo, err := echoServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = mcpserver.NewSSEServer(echo)
	server.Start()
	t.Cleanup(server.Close)
	m := managerOf(t, fmt.Sprintf(`"echo":{"transport":"sse","url":%q,"limits":{"maxMessageBytes":100000},"lifecycle":{"restart":{"backoffMs":1}}}`, server.URL+"/sse"), nil)
	if result, err := m.Call(t.Context(), anyone, "echo__echo", json.RawMessage(`{"a":1}`)); err != nil || !strings.Contains(told(t, result.JSON), `{\"a\":1}`) {
		t.Fatalf("echo: %v", err)
	}
	if _, err := m.Call(t.Context(), anyone, "echo__big", nil); !errors.Is(err, ErrResultTooLarge) {
		t.Errorf("big: %v", err)
	}
	if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestHTTPFaultsEndInAKindAndTheNextCallWorks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool  string
		spoil func(w http.ResponseWriter) bool // answers a tools/call itself
		want  error
		says  string
	}{
		"result too large as JSON": {"big", nil, ErrResultTooLarge, "maxMessageBytes"},
		"tool that never ends":     {"hang", nil, ErrTimeout, "callTimeoutMs"},
		"result too large as event": {"echo", func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: message\ndata: {}\n\nevent: message\ndata: ")
			_, _ = io.WriteString(w, strings.Repeat("x", 200_000)+"\n\n")
			return true
		}, ErrResultTooLarge, "maxMessageBytes"},
		"server error": {"echo", func(w http.ResponseWriter) bool {
			http.Error(w, "canary@example.com failed", http.StatusInternalServerError)
			return true
		}, ErrUpstream, "HTTP status 500"},
		"no credentials": {"echo", func(w http.ResponseWriter) bool {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return true
		}, ErrUpstream, "credentials"},
		"session forgotten": {"echo", func(w http.ResponseWriter) bool {
			http.NotFound(w, nil)
			return true
		}, ErrUpstream, "HTTP status 404"},
		"redirect elsewhere": {"echo", func(w http.ResponseWriter) bool {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, ErrUpstream, "HTTP status 307"},
		"page instead of an answer": {"echo", func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<p>canary@example.com</p>")
			return true
		}, ErrUpstream, "form of the protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoiled := false
			url := serveHTTP(t, func(w http.ResponseWriter, call bool) bool {
				if c.spoil == nil || spoiled || !call {
					return false
				}
				spoiled = true
				return c.spoil(w)
			})
			m := managerOf(t, fmt.Sprintf(`"echo":{"url":%q,"limits":{"maxMessageBytes":100000},"lifecycle":{"restart":{"backoffMs":1}}}`, url), nil)
			ctx, cancel := t.Context(), func() {}
			if errors.Is(c.want, ErrTimeout) {
				ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
			}
			defer cancel()
			_, err := m.Call(ctx, anyone, "echo__"+c.tool, nil)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v, want %v with %q", err, c.want, c.says)
			}
			if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

func TestUnreachableServerSaysSo(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"gone":{"url":"http://127.0.0.1:1/mcp"},"old":{"transport":"sse","url":"http://127.0.0.1:1/sse"}`, nil)
	for _, tool := range []string{"gone__x", "old__x"} {
		if _, err := m.Call(t.Context(), anyone, tool, nil); !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "could not be reached") {
			t.Errorf("%s: %v", tool, err)
		}
	}
}

// serveHTTP serves the echo server; spoil may answer a request in its place.
func serveHTTP(t *testing.T, spoil func(w http.ResponseWriter, call bool) bool) string {
	t.Helper()
	echo, err := echoServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	real := mcpserver.NewStreamableHTTPServer(echo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !spoil(w, bytes.Contains(body, []byte(`"tools/call"`))) {
			real.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}
