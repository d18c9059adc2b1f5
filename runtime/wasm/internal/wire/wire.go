// Package wire is the language between the wasm backend and its worker
// processes: frames on the worker's standard input and output.
//
// A frame is its payload's length (4 bytes, big-endian), its kind (1 byte), an id
// (4 bytes) and the payload. Each kind has a greatest size, and a longer frame is
// an error of the peer. Neither side trusts a length: memory is taken as bytes
// arrive.
package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Kind says what a frame means.
type Kind byte

// The frames to a worker.
const (
	Start      Kind = 1 + iota // JSON Setup, prelude
	Run                        // JSON Job, code
	Answer                     // id of a Call; status, body
	FileAnswer                 // error code, message, data
	Stop                       // end the execution now
)

// The frames from a worker.
const (
	Ready  Kind = 64 + iota // JSON Report at first; empty after each execution
	Output                  // stream (1 byte), text
	Call                    // id; method, path, body
	File                    // operation, path, data
	Done                    // JSON Outcome, value
)

const (
	kilobyte = 1 << 10
	megabyte = 1 << 20
)

// MaxBody bounds what a call of the bridge may carry, either way.
const MaxBody = 16 * megabyte

// MaxFile bounds a file that a script reads or writes.
const MaxFile = 32 * megabyte

// MaxCode bounds a script.
const MaxCode = 4 * megabyte

// MaxOutput bounds the text of one Output frame.
const MaxOutput = 32 * kilobyte

// maxima are the greatest sizes by kind, with room for small fields.
var maxima = map[Kind]int{
	Start: 4 * megabyte, Run: MaxCode + 64*kilobyte, Answer: MaxBody + kilobyte,
	FileAnswer: MaxFile + 8*kilobyte, Stop: 0,
	Ready: 64 * kilobyte, Output: MaxOutput + 16, Call: MaxBody + 16*kilobyte,
	File: MaxFile + 16*kilobyte, Done: 256 * megabyte,
}

// ErrProtocol is wrapped when the peer does not keep to the protocol.
var ErrProtocol = errors.New("protocol error")

// Frame is one message. Fields is the payload taken apart.
type Frame struct {
	Kind   Kind
	ID     uint32
	Fields [][]byte
}

// Conn sends and receives frames. Receive belongs to one goroutine; Send may be
// called by any.
type Conn struct {
	r  *bufio.Reader
	mu sync.Mutex // guards w
	w  io.Writer
}

// NewConn makes a Conn of what it reads and writes.
func NewConn(r io.Reader, w io.Writer) *Conn {
	return &Conn{r: bufio.NewReaderSize(r, 32*kilobyte), w: w}
}

const headerSize = 9

// Send writes a frame; each field goes with its length before it.
func (c *Conn) Send(kind Kind, id uint32, fields ...[]byte) error {
	size := 0
	for _, f := range fields {
		size += 4 + len(f)
	}
	if most, ok := maxima[kind]; !ok || size > most+4*len(fields) {
		return fmt.Errorf("%w: a frame of kind %d with %d bytes is too large", ErrProtocol, kind, size)
	}
	frame := make([]byte, headerSize, headerSize+size)
	binary.BigEndian.PutUint32(frame, uint32(size))
	frame[4] = byte(kind)
	binary.BigEndian.PutUint32(frame[5:], id)
	for _, f := range fields {
		frame = append(binary.BigEndian.AppendUint32(frame, uint32(len(f))), f...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.w.Write(frame)
	return err
}

// Receive reads the next frame. io.EOF means that the peer ended between frames.
func (c *Conn) Receive() (Frame, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(c.r, header[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: Kind(header[4]), ID: binary.BigEndian.Uint32(header[5:])}
	size := int(binary.BigEndian.Uint32(header[:]))
	most, ok := maxima[f.Kind]
	if !ok || size > most+4*maxFields {
		return Frame{}, fmt.Errorf("%w: a frame of kind %d with %d bytes", ErrProtocol, f.Kind, size)
	}
	payload, err := readPayload(c.r, size)
	if err != nil {
		return Frame{}, fmt.Errorf("read a frame: %w", err)
	}
	f.Fields, err = split(payload)
	return f, err
}

// maxFields is how many fields a frame has at most.
const maxFields = 3

// readPayload takes memory only for what has arrived, when it is much.
func readPayload(r io.Reader, size int) ([]byte, error) {
	if size <= 64*kilobyte {
		b := make([]byte, size)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	var b bytes.Buffer
	n, err := io.CopyN(&b, r, int64(size))
	if errors.Is(err, io.EOF) && n < int64(size) {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

func split(payload []byte) ([][]byte, error) {
	var fields [][]byte
	for len(payload) > 0 {
		if len(payload) < 4 || len(fields) == maxFields {
			return nil, fmt.Errorf("%w: a malformed frame", ErrProtocol)
		}
		n := binary.BigEndian.Uint32(payload)
		payload = payload[4:]
		if uint64(n) > uint64(len(payload)) {
			return nil, fmt.Errorf("%w: a field longer than its frame", ErrProtocol)
		}
		fields, payload = append(fields, payload[:n:n]), payload[n:]
	}
	return fields, nil
}

// Field returns a field, empty if the frame has fewer.
func (f Frame) Field(i int) []byte {
	if i < len(f.Fields) {
		return f.Fields[i]
	}
	return nil
}
