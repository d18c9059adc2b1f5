package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/wire"
)

func TestWorkerRefusesAnotherBeginning(t *testing.T) {
	t.Parallel()
	var in bytes.Buffer
	if err := wire.NewConn(&in, &in).Send(wire.Stop, 1); err != nil {
		t.Fatal(err)
	}
	if err := Main(context.Background(), &in, io.Discard); !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("Main: %v", err)
	}
}

func TestWorkerReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	setup, err := json.Marshal(wire.Setup{TimeZone: "Nowhere/Town"})
	if err != nil {
		t.Fatal(err)
	}
	var in, out bytes.Buffer
	if err := wire.NewConn(&in, &in).Send(wire.Start, 0, setup, []byte("(host => ({}))")); err != nil {
		t.Fatal(err)
	}
	if err := Main(context.Background(), &in, &out); err == nil {
		t.Error("Main ended well")
	}
	f, err := wire.NewConn(&out, nil).Receive()
	if err != nil || f.Kind != wire.Ready || !strings.Contains(string(f.Field(0)), "Nowhere/Town") {
		t.Errorf("it said %q, %v", f.Field(0), err)
	}
}

func TestOutputIsSentInPiecesOfWholeCharacters(t *testing.T) {
	t.Parallel()
	var sent bytes.Buffer
	conn := wire.NewConn(&sent, &sent)
	o := newOutput(conn)
	o.keep = 1 << 20
	text := strings.Repeat("🎉", wire.MaxOutput/4) + strings.Repeat("aü", wire.MaxOutput)
	o.print(wire.Stdout, text, len(text)+100)
	o.print(wire.Stderr, "err", 3)
	o.print(wire.Stdout, "end", 3)
	o.flush()
	var got [2]string
	for {
		f, err := conn.Receive()
		if err != nil {
			break
		}
		if !utf8.Valid(f.Field(1)) {
			t.Fatal("a piece ends within a character")
		}
		got[f.Field(0)[0]] += string(f.Field(1))
	}
	if got[0] != text+"end" || got[1] != "err" {
		t.Errorf("%d and %d bytes arrived", len(got[0]), len(got[1]))
	}
	if o.dropped != [2]int64{100, 0} || o.total() != int64(len(text)+106) {
		t.Errorf("dropped %v of %d", o.dropped, o.total())
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in         string
		most, want int
	}{
		{"abc", 5, 3}, {"abc", 2, 2}, {"aü", 2, 1}, {"a🎉", 4, 1}, {"a🎉b", 5, 5}, {"\x80\x80\x80\x80\x80\x80", 4, 4},
	} {
		if got := cut([]byte(tc.in), tc.most); got != tc.want {
			t.Errorf("cut(%q, %d) = %d, want %d", tc.in, tc.most, got, tc.want)
		}
	}
}

func TestTimersComeInOrder(t *testing.T) {
	t.Parallel()
	var set timers
	now := time.Now()
	for i, after := range []time.Duration{3, 1, 2, 1} {
		set.add(now.Add(after*time.Second), quickjs.Value(i))
	}
	var order []quickjs.Value
	for _, at := range []time.Duration{0, 1, 1, 1, 5, 5, 5} {
		if v, ok := set.due(now.Add(at * time.Second)); ok {
			order = append(order, v)
		}
	}
	want := []quickjs.Value{1, 3, 2, 0}
	if len(order) != len(want) {
		t.Fatalf("order is %v, want %v", order, want)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("order is %v, want %v", order, want)
		}
	}
}

func TestModuleNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ base, specifier, want string }{
		{"script", "/skills/a.js", "/skills/a.js"},
		{"script", "./a.js", "/workspace/a.js"},
		{"/skills/lib/a.mjs", "../b.mjs", "/skills/b.mjs"},
		{"/skills/a.mjs", "../../../etc/passwd", "/etc/passwd"}, // which files will refuse
		{"script", "lodash", "require:lodash"},
		{"script", "node:fs", "require:node:fs"},
	} {
		if got, err := (modules{}).Resolve(tc.base, tc.specifier); err != nil || got != tc.want {
			t.Errorf("Resolve(%q, %q) = %q, %v; want %q", tc.base, tc.specifier, got, err, tc.want)
		}
	}
}

func TestExportsAreIdentifiers(t *testing.T) {
	t.Parallel()
	got := exports(`"/a.js"`, []string{"one", "default", "not-one", "1st", "größe", "class"})
	want := `const m=require("/a.js");export default m;const k0=m.one;export{k0 as one};` +
		`const k4=m.größe;export{k4 as größe};const k5=m.class;export{k5 as class};`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
