package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// request is one authenticated request while it is being answered.
type request struct {
	bridge *Bridge
	access *Access
	number int // among the requests of its execution
	w      http.ResponseWriter
	r      *http.Request
}

// ctx ends with the connection and with the access.
func (r *request) ctx() context.Context { return r.r.Context() }

// wellFormed refuses requests that two readers could understand differently. Our
// helpers send none of these.
func wellFormed(r *http.Request) *Error {
	for _, values := range r.Header {
		if len(values) > 1 {
			return badRequest("bad_request", "a header is given more than once", "send each header once")
		}
	}
	// net/http drops a Content-Length that stands beside Transfer-Encoding, so the
	// two together cannot be told from chunked alone: neither is taken.
	if len(r.TransferEncoding) > 0 {
		return badRequest("bad_request", "the body has a transfer encoding", "send Content-Length and the plain body")
	}
	if r.Header.Get("Content-Encoding") != "" || r.Header.Get("Upgrade") != "" {
		return badRequest("bad_request", "the request is encoded or asks for another protocol", "send plain JSON")
	}
	return nil
}

// maxName bounds a full tool name, in bytes.
const maxName = 256

// toolName reads the name in a path. Whether there is such a tool is seen later,
// byte for byte; here only what can be no name at all is refused.
func toolName(part string) (string, *Error) {
	name, err := url.PathUnescape(part)
	odd := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	if err != nil || name == "" || len(name) > maxName || strings.ContainsFunc(name, odd) {
		return "", badRequest("bad_tool_name", "the path holds no tool name", "write the name as it is listed, percent-encoded, at most 256 bytes")
	}
	return name, nil
}

// parameters reads the query string, strictly: known names, each once.
func (r *request) parameters(known ...string) (map[string]string, *Error) {
	values, err := url.ParseQuery(r.r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("bad_query", "the query string cannot be read", "write name=value pairs, percent-encoded, separated by &")
	}
	single := map[string]string{}
	for name, all := range values {
		switch {
		case !slices.Contains(known, name):
			return nil, r.refuse(Error{http.StatusBadRequest, "unknown_parameter", "there is no parameter " + echo(r.access.grant.Vault, name), allowedNames(known)})
		case len(all) > 1:
			return nil, badRequest("bad_query", "a parameter is given more than once", "give each parameter once")
		}
		single[name] = all[0]
	}
	return single, nil
}

func allowedNames(known []string) string {
	if len(known) == 0 {
		return "this call takes none"
	}
	return "allowed: " + listed(known)
}

// brief quotes something of the caller's for a message.
func brief(s string) string {
	const most = 100
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return `"` + s + `"`
}

// body reads a JSON object with known members only.
func (r *request) body(limit int64, known ...string) (map[string]json.RawMessage, *Error) {
	if r.r.Header.Get("Content-Type") != "" {
		kind, _, err := mime.ParseMediaType(r.r.Header.Get("Content-Type"))
		if err != nil || kind != "application/json" {
			return nil, badRequest("bad_content_type", "the body is not declared as JSON", "send Content-Type: application/json")
		}
	}
	data, e := r.read(limit)
	if e != nil {
		return nil, e
	}
	return r.object(data, known)
}

// object takes a JSON object apart. json's own decoding into a struct would take
// "Arguments" for "arguments".
func (r *request) object(data []byte, known []string) (map[string]json.RawMessage, *Error) {
	if e := checkJSON(data); e != nil {
		return nil, e
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return nil, badRequest("bad_json", "the body is not a JSON object", allowedNames(known))
	}
	for name := range members {
		if !slices.Contains(known, name) {
			return nil, r.refuse(Error{http.StatusBadRequest, "unknown_field", "there is no field " + echo(r.access.grant.Vault, name), allowedNames(known)})
		}
	}
	return members, nil
}

// read takes in the body: so much, in so much time. A connection with a body that
// was not read to its end is of no further use.
func (r *request) read(limit int64) ([]byte, *Error) {
	if r.r.ContentLength > limit {
		r.w.Header().Set("Connection", "close")
		return nil, tooLarge("the body", limit)
	}
	wire := http.NewResponseController(r.w)
	end := time.Now().Add(r.bridge.options.Limits.TransferTime)
	// Not supported in process, where the body is in memory already. Reading may
	// write too, to a client that waits for "100 Continue".
	_ = errors.Join(wire.SetReadDeadline(end), wire.SetWriteDeadline(end))
	body := r.r.Body
	if body == nil { // as clients make requests, and those in process are
		body = http.NoBody
	}
	data, err := io.ReadAll(http.MaxBytesReader(r.w, body, limit))
	if err != nil {
		r.w.Header().Set("Connection", "close")
		return nil, r.readError(err, limit)
	}
	_ = wire.SetReadDeadline(time.Time{})
	return data, nil
}

func (r *request) readError(err error, limit int64) *Error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge("the body", limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{http.StatusRequestTimeout, "too_slow", "the body did not arrive in time", "send it at once"}
	case r.ctx().Err() != nil:
		return errCancelled()
	}
	return badRequest("bad_request", "the body could not be read to its end", "send as many bytes as Content-Length says")
}

// maxNesting bounds how deep JSON may be nested. Real arguments need a dozen; the
// stacks of those who read them after us have an end.
const maxNesting = 128

// checkJSON refuses what is not one JSON value, is nested too deep, or repeats a
// key: readers differ in which of two values they take, so that what was checked
// might not be what arrives.
func checkJSON(data []byte) *Error {
	if !utf8.Valid(data) || !json.Valid(data) {
		return badRequest("bad_json", "the body is not valid JSON", "send one JSON object in UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []level
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badRequest("bad_json", "the body is not valid JSON", "send one JSON object in UTF-8")
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(open) == maxNesting {
				return badRequest("bad_json", "the JSON is nested too deep", "send flatter arguments")
			}
			next(open)
			open = append(open, newLevel(token == json.Delim('{')))
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if n, ok := token.(json.Number); ok && !holdable(n) {
				return badRequest("bad_json", "a number is out of range", "send it as a string")
			}
			if next(open) && !open[len(open)-1].add(token) {
				return badRequest("bad_json", "an object has the same key twice", "send each key once")
			}
		}
	}
}

// holdable reports whether a number is one that others can hold: the exact
// arithmetic of a validator would write 1e999999999 out.
func holdable(n json.Number) bool {
	const digits = 1000
	_, err := n.Float64()
	return err == nil && len(n) <= digits
}

// level is an object or array that is being read.
type level struct {
	keys  map[string]bool // nil in an array
	value bool            // in an object: a value comes next
}

func newLevel(object bool) level {
	if !object {
		return level{}
	}
	return level{keys: map[string]bool{}, value: true}
}

// next steps on and reports whether what comes is a key.
func next(open []level) bool {
	if len(open) == 0 || open[len(open)-1].keys == nil {
		return false
	}
	at := &open[len(open)-1]
	at.value = !at.value
	return !at.value
}

// add reports whether the key is new.
func (l level) add(key json.Token) bool {
	name, _ := key.(string)
	known := l.keys[name]
	l.keys[name] = true
	return !known
}

// refuse tokenizes an error's texts, which hold what the script sent.
func (r *request) refuse(e Error) *Error {
	return refusal(r.access.grant.Vault, originScript, e)
}
