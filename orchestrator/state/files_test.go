package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func openFiles(t *testing.T) (*Files, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func TestFilesKeepReplaceAndForget(t *testing.T) {
	t.Parallel()
	f, dir := openFiles(t)
	if _, err := f.Get(t.Context(), "vault/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was never kept gave %v", err)
	}
	for _, value := range []string{"one", "another"} {
		if err := f.Put(t.Context(), "vault/a", []byte(value)); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Get(t.Context(), "vault/a"); err != nil || string(got) != value {
			t.Errorf("got %q, %v; want %q", got, err, value)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "vault/a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kept as %v, %v; want mode 0600", info.Mode(), err)
	}
	for range 2 {
		if err := f.Delete(t.Context(), "vault/a"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "vault"))
	if err != nil || len(left) != 0 {
		t.Errorf("%d files are left (%v)", len(left), err)
	}
}

func TestFilesRefuseOtherNames(t *testing.T) {
	t.Parallel()
	f, _ := openFiles(t)
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../b", "a//b", ".hidden", "a/.b", "a\x00b", "a b", "ä"} {
		if err := f.Put(t.Context(), name, nil); !errors.Is(err, ErrName) {
			t.Errorf("Put(%q) gave %v, want ErrName", name, err)
		}
	}
}

func TestFilesNeverShowHalfAValue(t *testing.T) {
	t.Parallel()
	f, _ := openFiles(t)
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 50 {
				if err := f.Put(t.Context(), "k", bytes.Repeat(fmt.Append(nil, i), 4096)); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	for range 200 {
		got, err := f.Get(t.Context(), "k")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || len(got) != 4096 || len(bytes.Trim(got, string(got[:1]))) != 0 {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
}
