package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Demux reads the standard output out of an attached container's stream, in which
// the engine mixes both outputs in pieces with a head of eight bytes each. What
// came on standard error goes to Stderr.
type Demux struct {
	Stream io.Reader
	Stderr io.Writer
	left   int // of the piece being read
}

const (
	pieceStdout = 1
	pieceStderr = 2
)

// Read implements io.Reader.
func (d *Demux) Read(b []byte) (int, error) {
	for d.left == 0 {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	n, err := d.Stream.Read(b[:min(len(b), d.left)])
	d.left -= n
	return n, err
}

// next reads the head of a piece, and a whole piece of standard error.
func (d *Demux) next() error {
	var head [8]byte
	if _, err := io.ReadFull(d.Stream, head[:]); err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(head[4:]))
	switch head[0] {
	case pieceStdout:
		d.left = int(size)
		return nil
	case pieceStderr:
		_, err := io.CopyN(d.Stderr, d.Stream, size)
		return noEOF(err)
	default:
		return fmt.Errorf("%w: the engine sent a piece of stream %d", ErrProtocol, head[0])
	}
}
