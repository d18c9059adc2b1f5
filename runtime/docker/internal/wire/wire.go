// Package wire is the language between the docker backend and the supervisor
// inside a container: frames of one kind and a few bytes, over the container's
// attached standard input and output.
//
// A frame is a length of four bytes, big-endian, that counts what follows; one
// byte for its kind; and a payload, JSON or plain bytes by kind. The host trusts
// nothing in it: lengths are bounded, and JSON is read into fixed structs.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// MaxFrame bounds what follows a frame's length.
const MaxFrame = 1 << 20

// PartBytes is how much of a long text one frame carries.
const PartBytes = MaxFrame / 2

// Kind says what a frame means.
type Kind byte

// The kinds that the host sends.
const (
	Run    Kind = 'R' // begin an execution: a Job
	Code   Kind = 'C' // a part of the code, before Run
	Cancel Kind = 'X' // end an execution: an Order
	Ping   Kind = 'P'
)

// The kinds that the supervisor sends.
const (
	Hello   Kind = 'H' // it is ready: a Greeting
	Started Kind = 'S' // the execution begins
	Stdout  Kind = 'o' // what the script printed, as bytes
	Stderr  Kind = 'e'
	Value   Kind = 'V' // a part of the result, before Done
	Done    Kind = 'D' // the execution ended: an Outcome
	Pong    Kind = 'B'
)

// ErrProtocol is wrapped by errors about frames that nobody may send.
var ErrProtocol = errors.New("the supervisor does not keep to the protocol")

// Frame is one message.
type Frame struct {
	Kind    Kind
	Payload []byte
}

// Write sends a frame in one write.
func Write(w io.Writer, kind Kind, payload []byte) error {
	if len(payload)+1 > MaxFrame {
		return fmt.Errorf("send a frame of %d bytes: the most is %d", len(payload), MaxFrame-1)
	}
	var head [5]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(payload)+1))
	head[4] = byte(kind)
	parts := net.Buffers{head[:], payload}
	_, err := parts.WriteTo(w)
	return err
}

// Read receives a frame.
func Read(r io.Reader) (Frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > MaxFrame {
		return Frame{}, fmt.Errorf("%w: a frame of %d bytes", ErrProtocol, size)
	}
	f := Frame{Kind: Kind(head[4]), Payload: make([]byte, size-1)}
	if _, err := io.ReadFull(r, f.Payload); err != nil {
		return Frame{}, fmt.Errorf("a frame was cut off: %w", noEOF(err))
	}
	return f, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
