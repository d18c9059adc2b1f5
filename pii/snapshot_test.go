package pii

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"airlock/ident"
	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

// memory is a Store that a test can look into.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func newMemory() *memory { return &memory{kept: map[string][]byte{}} }

func (m *memory) Put(_ context.Context, name string, sealed []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[name] = bytes.Clone(sealed)
	return nil
}

func (m *memory) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.kept[name]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, name)
	return nil
}

var testKey = bytes.Repeat([]byte{7}, keyLen)

func TestVaultComesBackFromItsStoreAsItWas(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	text := `{"a":77701234,"b":"O\u0022Brien","c":"O\"Brien","d":"ada@example.org","e":"Jos\u00e9 Roe"}`
	tok := tokenize(t, v, text, OriginServer("crm"))
	sealed, err := v.Seal(tok)
	if err != nil {
		t.Fatal(err)
	}
	v.MarkUnseen()
	store := newMemory()
	if err := v.Save(t.Context(), store, "ses_a", testKey); err != nil {
		t.Fatal(err)
	}
	o := VaultOptions{Detector: v.finder.(*detect.Detector)}
	back, err := LoadVault(t.Context(), store, "ses_a", testKey, o)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := back.Open(sealed)
	if err != nil || opened != tok {
		t.Fatalf("transcript: %v, %v", opened, err)
	}
	if got := detokenize(t, back, tok.String()); got != text {
		t.Errorf("got %s", got)
	}
	if again := tokenize(t, back, text, OriginServer("crm")); again != tok {
		t.Errorf("the same text got other tokens: %s", again)
	}
	if _, err := (Policy{}).Check(back, tok, "mailer"); err == nil {
		t.Error("origins are lost")
	}
	if !back.HoldsUnseen() {
		t.Error("the mark of unseen data is lost")
	}
}

func TestSealedVaultShowsNothingAndOpensOnlyForItsSession(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "ada@example.org", OriginUser)
	store := newMemory()
	if err := v.Save(t.Context(), store, "ses_a", testKey); err != nil {
		t.Fatal(err)
	}
	for name, sealed := range store.kept {
		if bytes.Contains(sealed, []byte("example")) || strings.Contains(name, "example") {
			t.Error("a value is kept in clear")
		}
	}
	store.kept["vault/ses_b"] = store.kept["vault/ses_a"]
	changed := bytes.Clone(store.kept["vault/ses_a"])
	changed[len(changed)/2] ^= 1
	store.kept["vault/ses_c"] = changed
	store.kept["vault/ses_d"] = []byte("short")
	o := VaultOptions{Detector: v.finder.(*detect.Detector)}
	for _, load := range []struct {
		why string
		ses string
		key []byte
	}{
		{"another session", "ses_b", testKey}, {"changed", "ses_c", testKey}, {"too short", "ses_d", testKey},
		{"another key", "ses_a", bytes.Repeat([]byte{8}, keyLen)}, {"no key", "ses_a", nil},
	} {
		if _, err := LoadVault(t.Context(), store, ident.Session(load.ses), load.key, o); err == nil {
			t.Errorf("%s: opened", load.why)
		}
	}
	if err := DeleteVault(t.Context(), store, "ses_a"); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadVault(t.Context(), store, "ses_a", testKey, o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after delete: %v", err)
	}
}

func TestTranscriptOfAnotherVaultDoesNotOpen(t *testing.T) {
	t.Parallel()
	a, b := testVault(t, VaultOptions{}), testVault(t, VaultOptions{})
	sealed, err := a.Seal(Static("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(sealed); err == nil {
		t.Error("opened")
	}
}

func TestVaultComesBackFromItsChanges(t *testing.T) {
	t.Parallel()
	const session = ident.Session("ses_1")
	v := testVault(t, VaultOptions{})
	o := VaultOptions{Detector: v.finder.(*detect.Detector)}
	var parts [][]byte
	keep := func(want bool) {
		t.Helper()
		part, err := v.SealChanges(session, testKey)
		if err != nil || (part != nil) != want {
			t.Fatalf("gave %d bytes, %v; want some: %v", len(part), err, want)
		}
		if part != nil {
			parts = append(parts, part)
		}
	}
	keep(true)
	keep(false)
	tokenize(t, v, "ann@example.org and bob@example.org", OriginUser)
	keep(true)
	tokenize(t, v, "ann@example.org", OriginUser)
	keep(false)
	tokenize(t, v, "ann@example.org", OriginServer("crm"))
	keep(true)
	v.MarkUnseen()
	keep(true)
	v.MarkHeard("crm")
	keep(true)
	last := tokenize(t, v, "eve@example.org, bob@example.org", OriginServer("mail"))
	keep(true)

	back, err := OpenVault(parts, session, testKey, o)
	if err != nil {
		t.Fatal(err)
	}
	if part, err := back.SealChanges(session, testKey); err != nil || part != nil {
		t.Errorf("what was just opened has changes: %d bytes, %v", len(part), err)
	}
	if again := tokenize(t, back, "eve@example.org, bob@example.org", OriginServer("mail")); again != last {
		t.Errorf("the same text became %s, was %s", again, last)
	}
	want, err := v.Uses(last)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := back.Uses(last); err != nil || fmt.Sprint(got) != fmt.Sprint(want) || !back.HoldsUnseen() {
		t.Errorf("came back with %v, %v, unseen %v; was %v", got, err, back.HoldsUnseen(), want)
	}
	for name, broken := range map[string]func() (*Vault, error){
		"of another session":    func() (*Vault, error) { return OpenVault(parts, "ses_2", testKey, o) },
		"without a middle part": func() (*Vault, error) { return OpenVault(append(parts[:1:1], parts[5:]...), session, testKey, o) },
		"of nothing":            func() (*Vault, error) { return OpenVault(nil, session, testKey, o) },
	} {
		if _, err := broken(); err == nil {
			t.Errorf("a vault %s opens", name)
		}
	}
}

func TestSealedTextsComeBack(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	texts := []Tokenized{tokenize(t, v, "ann@example.org", OriginUser), Static(""), v.FromModel("not \xff UTF-8")}
	sealed, err := v.SealTexts(texts)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.OpenTexts(sealed); err != nil || !slices.Equal(got, texts) {
		t.Errorf("came back as %v, %v", got, err)
	}
	if _, err := testVault(t, VaultOptions{}).OpenTexts(sealed); err == nil {
		t.Error("another vault opens them")
	}
	raw, err := SealRaw(testKey, "task", []Raw{NewRaw("ann@example.org"), NewRaw("")})
	if err != nil || bytes.Contains(raw, []byte("ann@")) {
		t.Fatalf("sealed with %v: %q", err, raw)
	}
	if got, err := OpenRaw(testKey, "task", raw); err != nil || len(got) != 2 || boundary.Open(got[0]) != "ann@example.org" {
		t.Errorf("came back as %d texts, %v", len(got), err)
	}
	if _, err := OpenRaw(testKey, "another task", raw); err == nil {
		t.Error("they open as those of another task")
	}
}
