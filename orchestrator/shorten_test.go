package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/sandbox"
)

func newVault(t testing.TB) *pii.Vault {
	t.Helper()
	detector, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: detector})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tokenized(t testing.TB, v *pii.Vault, text string) pii.Tokenized {
	t.Helper()
	whole, err := v.Tokenize(pii.NewRaw(text), pii.OriginScript)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func TestLongJSONIsShortenedByItsStructure(t *testing.T) {
	t.Parallel()
	rows := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":%d,"big":12345678901234567890,"name":"row %d"}`, i, i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	v := newVault(t)
	for name, tc := range map[string]struct {
		whole string
		want  []string
	}{
		"a list":              {rows(5000), []string{`[{"id":0,"big":12345678901234567890,"name":"row 0"},`, ` more"]`}},
		"a list in an object": {`{"total":5000,"rows":` + rows(5000) + `,"next":null}`, []string{`{"total":5000,"rows":[{"id":0,`, ` more"],"next":null}`}},
		"a long text":         {`{"text":"` + strings.Repeat("word ", 5000) + `","ok":true}`, []string{`{"text":"word word`, `...","ok":true}`}},
		"many keys":           {`{` + strings.Repeat(`"k":1,`, 9000) + `"last":1}`, []string{`"...":"... `}},
		"deep lists":          {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), []string{`[[[[[[[[[[[["..."]]]]]]]]]]]]`}},
		"keys in order":       {`{"z":1,"a":` + rows(3000) + `,"m":2}`, []string{`{"z":1,"a":[`, `],"m":2}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const most = 4000
			short, err := shortJSON(v, tokenized(t, v, tc.whole), most)
			if err != nil || len(short) > most || !json.Valid(short) {
				t.Fatalf("%d bytes, valid %v: %v", len(short), json.Valid(short), err)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(short), want) {
					t.Errorf("no %s in\n%s", want, short)
				}
			}
		})
	}
}

func TestShorteningTearsNoToken(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	whole := tokenized(t, v, `{"text":"`+strings.Repeat("ann.lee@example.org ", 4000)+`"}`)
	token := whole.String()[strings.Index(whole.String(), "["):][:len("[EMAIL_1_k7q2f]")]
	for most := 200; most < 3000; most += 37 {
		short, err := shortJSON(v, whole, most)
		if err != nil {
			t.Fatal(err)
		}
		if rest := strings.ReplaceAll(string(short), token, ""); strings.Contains(rest, "EMAIL") {
			t.Fatalf("a torn token at %d bytes: %s", most, short)
		}
	}
}

func TestLongOutputKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	short := shortLines(tokenized(t, v, text.String()), 1000).String()
	if len(short) > 1020 || !strings.HasPrefix(short, "line 0\nline 1\n") || !strings.HasSuffix(short, "line 1998\nline 1999\n") || !strings.Contains(short, "\n[...]\nline 1") {
		t.Errorf("%d bytes: %s", len(short), short)
	}
	one := shortLines(tokenized(t, v, strings.Repeat("x", 5000)), 1000).String()
	if len(one) == 0 || len(one) > 1000 {
		t.Errorf("a single line became %d bytes", len(one))
	}
}

func TestAFullWorkspaceCostsTheRestOfAResultOnly(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(works(1, 1), llmtest.Turn{Text: "Long."})
	s := newTestService(t, script, fillsWorkspace(t, `"`+strings.Repeat("abcdefghij", 10_000)+`"`))
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Go on.")})
	if text := told(script.Requests()[1:]); task.Status != StatusCompleted || !strings.Contains(text, "the workspace has no room for all of it") {
		t.Errorf("ended %s: %+v, told %.500s", task.Status, task.Problem, text)
	}
}

func FuzzShortJSON(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":"c"}],"d":null}`, 20)
	f.Add(`[[[[]]]]`, 1)
	f.Add(`"text"`, 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if !json.Valid([]byte(text)) || most < 16 || most > 1<<16 {
			return
		}
		v := newVault(t)
		whole, err := v.Tokenize(pii.NewRaw(text), pii.OriginScript)
		if err != nil {
			return
		}
		short, err := shortJSON(v, whole, most)
		if err != nil || !json.Valid(short) {
			t.Errorf("%q at %d: %q, %v", text, most, short, errors.Unwrap(err))
		}
	})
}

// fillsWorkspace plays a script that leaves no room in its workspace.
func fillsWorkspace(t *testing.T, value string) scriptFunc {
	return func(_ context.Context, x sandbox.Execution) sandbox.Result {
		var full error
		for n := 64 << 20; n > 0; n /= 2 {
			full = errors.Join(full, x.Files.WriteFile(fmt.Sprintf("/workspace/%d", n), make([]byte, n)))
		}
		if full == nil {
			t.Error("the workspace takes whatever comes")
		}
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(value)}
	}
}
