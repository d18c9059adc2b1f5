package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrameReaderRefusesLongMessagesAndGoesOn(t *testing.T) {
	t.Parallel()
	const limit = 100_000 // over the size of the reader's own buffer
	exact := strings.Repeat("a", limit)
	input := "short\n" + exact + "\n\n" + `{"result":"` + exact + `","id":42}` + "\nlast\nno end"
	for name, in := range map[string]io.Reader{
		"at once":   strings.NewReader(input),
		"in halves": iotest.HalfReader(strings.NewReader(input)),
		"by bytes":  iotest.OneByteReader(strings.NewReader(input)),
	} {
		f := newFrameReader(in, limit)
		for _, want := range []string{"short", exact, ""} {
			if got, err := f.next(); err != nil || string(got) != want {
				t.Fatalf("%s: got %d bytes, %v, want %d", name, len(got), err, len(want))
			}
		}
		var overlong *overlongError
		if _, err := f.next(); !errors.As(err, &overlong) || !overlong.known || overlong.id != 42 {
			t.Errorf("%s: long message: %v", name, err)
		}
		if got, err := f.next(); err != nil || string(got) != "last" {
			t.Errorf("%s: after it: %q, %v", name, got, err)
		}
		if got, err := f.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: a message without an end: %q, %v", name, got, err)
		}
	}
}

func TestIDFinderFindsOnlyTheOutermostID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"id":1001,"result":{}}`:                          "1001",
		`{"result":{"id":7,"x":[{"id":8}]},"id": 1002 }`:   "1002",
		`{"result":"\"id\":3,","id":1003}`:                 "1003",
		`{"result":["id",5],"jsonrpc":"2.0","id":1004}`:    "1004",
		`{"result":"id","id2":9,"idx":"id"}`:               "",
		`{"id":"text"}`:                                    "",
		`{"id":null,"result":1}`:                           "",
		`[{"id":5}]`:                                       "",
		`{"a":{"b":{}},"c":"}{","id":-6}`:                  "-6",
		`{"id":123456789012345678901234567890,"result":1}`: "",
	} {
		var whole, bytewise idFinder
		whole.feed([]byte(in))
		for i := range len(in) {
			bytewise.feed([]byte(in[i : i+1]))
		}
		for _, f := range []idFinder{whole, bytewise} {
			got := ""
			if id, ok := f.result(); ok {
				got = fmt.Sprint(id)
			}
			if got != want {
				t.Errorf("%s: id %q, want %q", in, got, want)
			}
		}
	}
}

// FuzzIDFinder compares with a decoder on whatever is JSON.
func FuzzIDFinder(f *testing.F) {
	f.Add([]byte(`{"result":{"id":7},"id":12}`))
	f.Add([]byte(`{"id":1,"x":"\\\"id\":2"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m map[string]json.RawMessage
		var id int64
		if json.Unmarshal(data, &m) != nil || bytes.Contains(data, []byte(`\u`)) || bytes.Count(data, []byte(`"id"`)) != 1 {
			return // keys twice or escaped are beyond it
		}
		var finder idFinder
		finder.feed(data)
		got, ok := finder.result()
		if want := m["id"] != nil && m["id"][0] != '"' && json.Unmarshal(m["id"], &id) == nil && string(m["id"]) != "null"; ok != want || ok && got != id {
			t.Errorf("%s: %d %v, want %d %v", data, got, ok, id, want)
		}
	})
}
