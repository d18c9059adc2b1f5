package auth

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/orchestrator/state"
)

func newKeys(t *testing.T) (*Keys, string) {
	t.Helper()
	dir := t.TempDir()
	store, err := state.OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	keys, err := NewKeys(store, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return keys, dir
}

func TestKeys(t *testing.T) {
	t.Parallel()
	keys, dir := newKeys(t)
	made, text, err := keys.Create(t.Context(), "ann@example.org", Rights{Run: true, Reveal: true}, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	caller, err := keys.Authenticate(t.Context(), text)
	if err != nil || caller != (Caller{User: "ann@example.org", Rights: Rights{Run: true, Reveal: true}}) {
		t.Errorf("the key stands for %+v, %v", caller, err)
	}
	id, secret := text[len(keyPrefix):len(keyPrefix)+idLength], text[len(keyPrefix)+idLength+1:]
	for name, credential := range map[string]string{
		"nothing": "", "no key": "password", "another secret": keyPrefix + id + "_" + strings.Repeat("A", len(secret)),
		"a secret cut short": text[:len(text)-1], "an unknown id": keyPrefix + "abcdefghijkl_" + secret,
		"a path as the id": keyPrefix + "../../x/y/z__" + secret, "the id in capitals": keyPrefix + strings.ToUpper(id) + "_" + secret,
		"no prefix": id + "_" + secret,
	} {
		if _, err := keys.Authenticate(t.Context(), credential); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path, content := range files(t, dir) {
		if strings.Contains(path+content, "ann@") || strings.Contains(content, secret) {
			t.Errorf("%s holds the user or the secret", path)
		}
	}
	if all, err := keys.List(t.Context()); err != nil || len(all) != 1 || all[0] != made {
		t.Errorf("listed are %+v, %v", all, err)
	}
	if err := keys.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Authenticate(t.Context(), text); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a revoked key: %v", err)
	}
	for _, id := range []string{made.ID, "", "../x"} {
		if err := keys.Revoke(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("revoking %q: %v", id, err)
		}
	}
}

// TestKeysAreBoundToTheirNames puts one key's record in the place of another's: who
// can write the store must not be able to give a key other rights.
func TestKeysAreBoundToTheirNames(t *testing.T) {
	t.Parallel()
	keys, dir := newKeys(t)
	low, text, err := keys.Create(t.Context(), "ann", Rights{Run: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	high, _, err := keys.Create(t.Context(), "ann", Rights{Run: true, Reveal: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "keys", high.ID), filepath.Join(dir, "keys", low.ID)); err != nil {
		t.Fatal(err)
	}
	if caller, err := keys.Authenticate(t.Context(), text); err == nil {
		t.Errorf("the key now stands for %+v", caller)
	}
	if _, err := keys.List(t.Context()); err == nil {
		t.Error("a moved record is listed")
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("read %d files: %v", len(all), err)
	}
	return all
}
