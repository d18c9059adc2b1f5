package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// read is the reading goroutine. It never waits for anything but the server, so
// that no flood of messages can hold an answer up.
func (w *stdioWire) read() {
	frames := newFrameReader(w.proc.stdout, w.max)
	for {
		frame, err := frames.next()
		var overlong *overlongError
		switch {
		case err == nil:
			w.received(frame)
		case errors.As(err, &overlong):
			if !overlong.known || !w.deliver(overlong.id, answer{err: errTooLarge}) {
				w.garbage.Add(1)
			}
		default:
			w.lost()
			return
		}
		if w.babbles() {
			w.kill(w.up.fail(doStart, ErrUpstream, fmt.Sprintf("it wrote %d lines to its standard output that are no messages", maxGarbage),
				"check that it is an MCP server and that its arguments make it speak over stdio"))
			return
		}
	}
}

func (w *stdioWire) babbles() bool {
	if w.garbage.Load() < maxGarbage {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.spoke
}

// lost is the end of the server's output. It mostly means that the process
// ended; one that lives on without output is of no use.
func (w *stdioWire) lost() {
	if !w.proc.gone(exitTime) {
		w.proc.kill()
		<-w.proc.exited
		w.end(w.up.fail(doStart, ErrUpstream, "it closed its standard output", w.endHint()))
		return
	}
	w.end(w.exitCause())
}

// message is any of the four kinds of JSON-RPC messages.
type message struct {
	ID     json.RawMessage          `json:"id"`
	Method string                   `json:"method"`
	Params json.RawMessage          `json:"params"`
	Result json.RawMessage          `json:"result"`
	Error  *mcp.JSONRPCErrorDetails `json:"error"`
}

func (w *stdioWire) received(frame []byte) {
	frame = bytes.TrimSpace(frame)
	var m message
	if len(frame) == 0 {
		return
	}
	if frame[0] != '{' || json.Unmarshal(frame, &m) != nil {
		w.garbage.Add(1)
		return
	}
	w.mu.Lock()
	w.spoke = true
	notify := w.notify
	w.mu.Unlock()
	hasID := len(m.ID) > 0 && string(m.ID) != "null"
	switch {
	case m.Method == "" && hasID:
		w.answered(m)
	case m.Method != "" && hasID:
		w.asked(m)
	case m.Method != "" && notify != nil:
		n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
		n.Method = m.Method
		if m.Method == string(mcp.MethodNotificationProgress) { // of others it matters only that they came
			_ = json.Unmarshal(m.Params, &n.Params.AdditionalFields)
		}
		notify(n)
	}
}

func (w *stdioWire) answered(m message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		w.garbage.Add(1)
		return
	}
	w.deliver(id, answer{response: &transport.JSONRPCResponse{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Result: m.Result, Error: m.Error,
	}})
}

// deliver gives an answer to who waits for it, if anybody still does.
func (w *stdioWire) deliver(id int64, a answer) bool {
	w.mu.Lock()
	waiting := w.pending[id]
	delete(w.pending, id)
	w.mu.Unlock()
	if waiting == nil {
		return false
	}
	waiting <- a // has room for one, and is given one
	return true
}

// asked hands a request of the server to the answering goroutine.
func (w *stdioWire) asked(m message) {
	var id mcp.RequestId
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	r := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: id, Method: m.Method, Params: m.Params}
	select {
	case w.requests <- r:
	default:
	}
}
