package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFramesArriveAsSent(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]string{
		"nothing": "", "text": `{"id":"1"}`, "bytes": "\x00\xff\n", "the most": strings.Repeat("x", MaxFrame-1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := Write(&b, Stdout, []byte(payload)); err != nil {
				t.Fatal(err)
			}
			f, err := Read(iotest.HalfReader(&b))
			if err != nil || f.Kind != Stdout || string(f.Payload) != payload {
				t.Errorf("got kind %q, %d bytes and %v", f.Kind, len(f.Payload), err)
			}
		})
	}
}

func TestATooLongFrameIsNotSent(t *testing.T) {
	t.Parallel()
	if err := Write(io.Discard, Code, make([]byte, MaxFrame)); err == nil {
		t.Error("it was sent")
	}
}

func TestBrokenFramesAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data string
		want error
	}{
		"nothing":      {"", io.EOF},
		"half a head":  {"\x00\x00", io.ErrUnexpectedEOF},
		"no kind":      {"\x00\x00\x00\x00D", ErrProtocol},
		"far too long": {"\xff\xff\xff\xffD", ErrProtocol},
		"cut off":      {"\x00\x00\x00\x05Dab", io.ErrUnexpectedEOF},
		"no payload":   {"\x00\x00\x00\x05D", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Read(strings.NewReader(tc.data)); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestDemuxTakesTheStreamsApart(t *testing.T) {
	t.Parallel()
	stream := "\x01\x00\x00\x00\x00\x00\x00\x03abc" + "\x02\x00\x00\x00\x00\x00\x00\x02!!" +
		"\x01\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00\x00\x00\x00\x00\x00\x01d"
	var stderr strings.Builder
	out, err := io.ReadAll(&Demux{Stream: iotest.OneByteReader(strings.NewReader(stream)), Stderr: &stderr})
	if err != nil || string(out) != "abcd" || stderr.String() != "!!" {
		t.Errorf("got %q, %q and %v", out, stderr.String(), err)
	}
	for name, broken := range map[string]string{"another stream": "\x07\x00\x00\x00\x00\x00\x00\x01x", "cut off": "\x02\x00\x00\x00\x00\x00\x00\x09x"} {
		if _, err := io.ReadAll(&Demux{Stream: strings.NewReader(broken), Stderr: io.Discard}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReadEnds(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02Dx\x00\x00\x00\x01H"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for r := bytes.NewReader(data); ; {
			frame, err := Read(r)
			if err != nil {
				return
			}
			if len(frame.Payload) > MaxFrame {
				t.Fatal("a frame beyond the bound")
			}
		}
	})
}
