package pii

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"airlock/ident"
	"airlock/pii/detect"
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
