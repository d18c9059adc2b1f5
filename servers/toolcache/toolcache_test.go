package toolcache

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func open(t *testing.T) (*Cache, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tools")
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, dir
}

// odd has what encoding again would change: spaces, escapes, order, numbers.
var odd = []json.RawMessage{
	json.RawMessage(`{"b": 1e3,  "a":"<\u00b5>&"}`), json.RawMessage("{\n}\n"), json.RawMessage(`9007199254740993`), {},
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestListsComeBackByteForByte(t *testing.T) {
	t.Parallel()
	c, dir := open(t)
	for _, list := range [][]json.RawMessage{odd, {}, odd[:1]} {
		if err := c.Put("git", "v1", list, noon); err != nil {
			t.Fatal(err)
		}
		got, saved, ok := c.Get("git", "v1")
		if !ok || !saved.Equal(noon) || !slices.EqualFunc(got, list, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Errorf("got %q, %v, %v; want %q", got, saved, ok, list)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v; want one", len(files), err)
	}
	if info, err := files[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAnotherKeyOrServerIsAMiss(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	if err := c.Put("git", "v1", odd, noon); err != nil {
		t.Fatal(err)
	}
	for _, ask := range [][2]string{{"git", "v2"}, {"git", ""}, {"other", "v1"}, {"../git", "v1"}, {"", "v1"}} {
		if _, _, ok := c.Get(ask[0], ask[1]); ok {
			t.Errorf("%q was a hit", ask)
		}
	}
	for range 2 {
		if err := c.Remove("git"); err != nil {
			t.Error(err)
		}
	}
	if _, _, ok := c.Get("git", "v1"); ok {
		t.Error("a removed list was a hit")
	}
}

func TestDamagedFilesAreMisses(t *testing.T) {
	t.Parallel()
	c, dir := open(t)
	if err := c.Put("git", "v1", odd, noon); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "git.tools")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{
		"empty": {}, "no line": []byte("{}"), "other JSON": []byte("[]\n"), "grown": append(slices.Clone(whole), 'x'),
		"negative": bytes.Replace(whole, []byte("["), []byte("[-1,"), 1), "too large": append(slices.Clone(whole), make([]byte, MaxBytes)...),
		"other format": bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":2`), 1),
	}
	for n := range whole {
		damage["cut at "+string(rune('0'+n%10))] = whole[:n]
		flipped := slices.Clone(whole)
		flipped[n] ^= 0x01
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		// A flipped time still is one, and does not matter.
		if got, saved, ok := c.Get("git", "v1"); ok && saved.Equal(noon) {
			t.Errorf("byte %d flipped: %q was a hit", n, got)
		}
	}
	for name, data := range damage {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := c.Get("git", "v1"); ok {
			t.Errorf("%s: a hit", name)
		}
	}
}

func TestLinkOutOfTheFolderIsAMiss(t *testing.T) {
	t.Parallel()
	c, dir := open(t)
	if err := c.Put("git", "v1", odd, noon); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "git.tools")
	if err := os.Rename(filepath.Join(dir, "git.tools"), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "git.tools")); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.Get("git", "v1"); ok {
		t.Error("a link out of the folder was followed")
	}
	if err := os.Remove(filepath.Join(dir, "git.tools")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "git.tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.Get("git", "v1"); ok {
		t.Error("a folder was a hit")
	}
}

func TestListOverTheLimitIsRefusedAndForgotten(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	if err := c.Put("git", "v1", odd, noon); err != nil {
		t.Fatal(err)
	}
	if err := c.Put("git", "v2", []json.RawMessage{make([]byte, MaxBytes)}, noon); err == nil || !strings.Contains(err.Error(), `server "git"`) {
		t.Errorf("Put: %v", err)
	}
	if _, _, ok := c.Get("git", "v1"); ok {
		t.Error("what was there before is still a hit")
	}
}

func TestReadersNeverSeeHalfAList(t *testing.T) {
	t.Parallel()
	c, _ := open(t)
	if err := c.Put("git", "v1", odd, noon); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			for range 50 {
				if err := c.Put("git", "v1", odd[:n], noon); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if _, _, ok := c.Get("git", "v1"); !ok {
			t.Error("a miss while lists were written")
		}
	}
	writers.Wait()
}
