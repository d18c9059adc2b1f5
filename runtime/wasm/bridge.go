package wasm

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

// callBridge makes one call of the bridge, in process, with the session token that
// the script never sees, and returns the answer's status and body.
func callBridge(ctx context.Context, x sandbox.Execution, method, path string, body []byte) (status string, answer []byte) {
	if x.Bridge == nil {
		return failure(http.StatusServiceUnavailable, "unavailable", "this sandbox has no bridge", "run the script with a bridge to call tools")
	}
	if method != http.MethodGet && method != http.MethodPost || !strings.HasPrefix(path, "/v1/") {
		return failure(http.StatusNotFound, "unknown_route", "the bridge has no such route", "use the helpers: list_mcp_tools, get_mcp_tool_details, callMCPTool")
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://bridge"+path, bytes.NewReader(body))
	if err != nil {
		return failure(http.StatusBadRequest, "bad_request", "the path is malformed", "encode the tool's name with encodeURIComponent")
	}
	r.RequestURI = path
	r.Header.Set("Authorization", "Bearer "+string(x.Token))
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &recorder{header: http.Header{}}
	if !handle(x.Bridge, w, r) {
		return failure(http.StatusInternalServerError, "internal", "the bridge failed", "try again")
	}
	if w.overflow {
		return failure(http.StatusBadGateway, "result_too_large", "the answer is too large", "ask for less, page by page")
	}
	return strconv.Itoa(w.code()), w.body.Bytes()
}

// handle serves a request; false means that the handler panicked.
func handle(h http.Handler, w http.ResponseWriter, r *http.Request) (ok bool) {
	defer func() { ok = recover() == nil }()
	h.ServeHTTP(w, r)
	return true
}

// failure is an error in the bridge's own form.
func failure(status int, code, message, hint string) (string, []byte) {
	return strconv.Itoa(status), []byte(`{"error":{"code":"` + code + `","message":"` + message + `","hint":"` + hint + `"}}`)
}

// recorder is a response that is kept, up to what a frame can hold.
type recorder struct {
	header   http.Header
	status   int
	body     bytes.Buffer
	overflow bool
}

var errResponseTooLarge = errors.New("the response is too large for a script")

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.overflow || r.body.Len()+len(b) > wire.MaxBody {
		r.overflow = true
		return 0, errResponseTooLarge
	}
	return r.body.Write(b)
}

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
