package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFramesArriveAsSent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind   Kind
		fields []string
	}{
		"empty":         {Stop, nil},
		"one field":     {Ready, []string{"{}"}},
		"empty fields":  {FileAnswer, []string{"", "", ""}},
		"three fields":  {Call, []string{"POST", "/v1/tools", "\x00\xff"}},
		"a large field": {Run, []string{"{}", strings.Repeat("x", MaxCode)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pipe bytes.Buffer
			c := NewConn(&pipe, &pipe)
			var fields [][]byte
			for _, f := range tc.fields {
				fields = append(fields, []byte(f))
			}
			if err := c.Send(tc.kind, 7, fields...); err != nil {
				t.Fatal(err)
			}
			f, err := c.Receive()
			if err != nil || f.Kind != tc.kind || f.ID != 7 || len(f.Fields) != len(tc.fields) {
				t.Fatalf("got kind %d, id %d, %d fields, %v", f.Kind, f.ID, len(f.Fields), err)
			}
			for i, want := range tc.fields {
				if string(f.Field(i)) != want {
					t.Errorf("field %d differs", i)
				}
			}
			if f.Field(len(tc.fields)) != nil {
				t.Error("there is a field too many")
			}
			if _, err := c.Receive(); !errors.Is(err, io.EOF) {
				t.Errorf("after the last frame: %v, want EOF", err)
			}
		})
	}
}

func header(kind Kind, size uint32) []byte {
	h := binary.BigEndian.AppendUint32(nil, size)
	return append(h, byte(kind), 0, 0, 0, 1)
}

func TestBrokenFramesAreErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data []byte
		want error
	}{
		"an unknown kind":      {header(0, 0), ErrProtocol},
		"a frame too long":     {header(Output, 1<<30), ErrProtocol},
		"cut in the header":    {header(Stop, 0)[:5], io.ErrUnexpectedEOF},
		"cut in the payload":   {append(header(Call, 10), 1), io.ErrUnexpectedEOF},
		"a long one cut":       {append(header(Call, 1<<20), 1), io.ErrUnexpectedEOF},
		"a field beyond":       {append(header(Call, 5), 0, 0, 0, 9, 1), ErrProtocol},
		"half a field":         {append(header(Call, 2), 0, 0), ErrProtocol},
		"more than its fields": {append(header(Call, 16), make([]byte, 16)...), ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := NewConn(bytes.NewReader(tc.data), nil).Receive(); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestFramesTooLargeAreNotSent(t *testing.T) {
	t.Parallel()
	var pipe bytes.Buffer
	if err := NewConn(&pipe, &pipe).Send(Output, 0, make([]byte, MaxOutput+100)); !errors.Is(err, ErrProtocol) || pipe.Len() > 0 {
		t.Errorf("Send: %v, %d bytes written", err, pipe.Len())
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(append(header(Call, 9), 0, 0, 0, 1, 'x', 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := NewConn(bytes.NewReader(data), nil).Receive()
		if err == nil && len(frame.Fields) > maxFields {
			t.Error("too many fields")
		}
	})
}
