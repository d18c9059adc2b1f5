package servers

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

// frameReader reads messages that end with a line feed. A longer one than max
// is skipped without being kept: only the id in it is looked for, so that the
// call that it answers can be told.
type frameReader struct {
	in  *bufio.Reader
	max int
	buf []byte
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// keepBuffer is the largest buffer that is kept for the next message.
const keepBuffer = 256 << 10

// overlongError is a message over the limit, with the id it carries, if any.
type overlongError struct {
	id    int64
	known bool
}

func (e *overlongError) Error() string {
	return "message of " + strconv.FormatInt(e.id, 10) + " over the limit"
}

// next returns the next message without its line feed. It is valid until the
// following call.
func (f *frameReader) next() ([]byte, error) {
	if cap(f.buf) > keepBuffer {
		f.buf = nil
	}
	f.buf = f.buf[:0]
	for {
		part, err := f.in.ReadSlice('\n')
		if len(f.buf)+len(part) > f.max+1 { // the line feed does not count
			return nil, f.skip(part, err)
		}
		if err == nil && len(f.buf) == 0 {
			return part[:len(part)-1], nil
		}
		f.buf = append(f.buf, part...)
		switch {
		case err == nil:
			return f.buf[:len(f.buf)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // what was begun is not a message
		}
	}
}

func (f *frameReader) skip(part []byte, err error) error {
	var finder idFinder
	finder.feed(f.buf)
	f.buf = nil
	for {
		finder.feed(part)
		switch {
		case err == nil:
			id, known := finder.result()
			return &overlongError{id: id, known: known}
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
		part, err = f.in.ReadSlice('\n')
	}
}

// idFinder finds the number under the key "id" of the outermost object in JSON
// that passes by in pieces. It keeps a few bytes only.
type idFinder struct {
	depth           int
	inText, escaped bool
	isKey           bool // the text is where a key may stand
	expectKey       bool
	key, value      []byte
	reading         bool // the value of "id"
	found           bool
	id              int64
}

// maxID is more than an id of ours has digits.
const maxID = 20

func (f *idFinder) feed(data []byte) {
	for _, c := range data {
		if f.inText {
			f.text(c)
			continue
		}
		switch c {
		case '"':
			f.inText, f.isKey = true, f.depth == 1 && f.expectKey
			f.key = f.key[:0]
		case '{', '[':
			f.depth++
			f.expectKey = c == '{' && f.depth == 1
		case '}', ']':
			f.end()
			f.depth--
		case ',':
			f.end()
			f.expectKey = f.depth == 1
		case ':':
			f.reading = f.depth == 1 && f.expectKey && string(f.key) == "id"
			f.expectKey = f.expectKey && f.depth != 1
			f.value = f.value[:0]
		default:
			if f.reading && len(f.value) < maxID && c > ' ' {
				f.value = append(f.value, c)
			}
		}
	}
}

func (f *idFinder) text(c byte) {
	switch {
	case f.escaped:
		f.escaped = false
	case c == '\\':
		f.escaped = true
	case c == '"':
		f.inText = false
		return
	}
	if f.isKey && len(f.key) < maxID {
		f.key = append(f.key, c)
	}
}

// end is the end of a member.
func (f *idFinder) end() {
	if !f.reading || f.depth != 1 {
		return
	}
	f.reading = false
	if id, err := strconv.ParseInt(string(f.value), 10, 64); err == nil {
		f.id, f.found = id, true
	}
}

func (f *idFinder) result() (int64, bool) { return f.id, f.found }
