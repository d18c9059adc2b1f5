package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxMessage bounds one message of a host, in bytes.
const maxMessage = 8 << 20

// message is what the transports look at in a JSON-RPC message; the rest is for
// mcp-go.
type message struct {
	raw    []byte
	id     json.RawMessage // as it was written; nil in a notification
	method string          // empty in a response
	meta   string          // the protocol version that the message itself names
	target json.RawMessage // the request that a cancellation is about
	result json.RawMessage
	failed bool // a response that is an error
}

var (
	errNotJSON    = errors.New("the message is not JSON")
	errNotMessage = errors.New("the message is no single JSON-RPC 2.0 request, notification or response")
)

func parse(raw []byte) (message, error) {
	if !json.Valid(raw) {
		return message{}, errNotJSON
	}
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil || m.JSONRPC != mcp.JSONRPC_VERSION {
		return message{}, errNotMessage
	}
	if bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	out := message{raw: raw, id: m.ID, method: m.Method, result: m.Result, failed: m.Error != nil}
	if m.Method == "" {
		if m.ID == nil || (m.Result == nil) == (m.Error == nil) {
			return message{}, errNotMessage
		}
		return out, nil
	}
	if out.id != nil && out.id[0] != '"' && (out.id[0] < '0' || out.id[0] > '9') && out.id[0] != '-' {
		return message{}, errNotMessage
	}
	var p struct {
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
			Meta      struct {
				Version json.RawMessage `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(raw, &p) == nil { // params of another form are mcp-go's to refuse
		out.target = p.Params.RequestID
		_ = json.Unmarshal(p.Params.Meta.Version, &out.meta) // no version is none
	}
	return out, nil
}

func (m message) isRequest() bool  { return m.method != "" && m.id != nil }
func (m message) isResponse() bool { return m.method == "" }

// versions are the revisions of the protocol that have sessions, the newest first.
var versions = []string{
	mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618, mcp.ProtocolVersion20250326, mcp.ProtocolVersion20241105,
}

// failure is a JSON-RPC error, as it goes out.
func failure(id json.RawMessage, code int, text string) []byte {
	return encode(mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, ID: requestID(id), Error: mcp.NewJSONRPCErrorDetails(code, text, nil)})
}

// unsupported tells a client that speaks the protocol without sessions which
// revisions it can fall back to.
func unsupported(m message) []byte {
	e := mcp.UnsupportedProtocolVersionError{Version: m.meta, Supported: versions}.JSONRPCError()
	e.ID = requestID(m.id)
	return encode(e)
}

func requestID(id json.RawMessage) mcp.RequestId {
	var value any
	_ = json.Unmarshal(id, &value) // nil without an id
	return mcp.NewRequestId(value)
}

// encode puts a message on one line. What cannot be encoded is our own mistake, and
// ends the request that it belongs to and nothing else.
func encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
