//go:build unix

package workspace

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostileFiles puts into a folder what a script in a container could put
// there. Nothing of it may be read, and nothing may hang.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	outside := t.TempDir()
	put(t, filepath.Join(outside, "secret"), "not for scripts")
	put(t, filepath.Join(work, "plain"), "fine")
	at := func(name string) string { return filepath.Join(work, name) }
	for _, err := range []error{
		os.Symlink("/etc/passwd", at("absolute")),
		os.Symlink(filepath.Join(outside, "secret"), at("outside")),
		os.Symlink("../"+filepath.Base(outside)+"/secret", at("up")),
		os.Symlink(outside, at("folder")),
		os.Symlink("loop", at("loop")),
		os.Symlink("plain", at("inside")),
		os.Symlink("none", at("dangling")),
		os.Link(filepath.Join(outside, "secret"), at("hard")),
		syscall.Mkfifo(at("fifo"), 0o600),
		os.WriteFile(at("sparse"), nil, 0o600), os.Truncate(at("sparse"), 1<<40),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, want := range map[string]error{
		"absolute":      fs.ErrPermission,
		"outside":       fs.ErrPermission,
		"up":            fs.ErrPermission,
		"folder/secret": fs.ErrPermission,
		"folder":        fs.ErrPermission,
		"loop":          fs.ErrInvalid,
		"dangling":      fs.ErrNotExist,
		"hard":          fs.ErrPermission,
		"fifo":          fs.ErrInvalid,
		"socket":        fs.ErrInvalid,
		"sparse":        ErrTooLarge,
	} {
		t.Run(name, func(t *testing.T) {
			data, err := within(t, func() ([]byte, error) { return s.ReadFile("/workspace/"+name, 1000) })
			if !errors.Is(err, want) || len(data) > 0 {
				t.Errorf("read %d bytes, %v, want %v", len(data), err, want)
			}
		})
	}
	if data, err := s.ReadFile("/workspace/inside", 10); err != nil || string(data) != "fine" {
		t.Errorf("a link that stays inside reads %q, %v", data, err)
	}
	if err := s.WriteFile("/workspace/folder/new", nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing through a link that leads out says %v", err)
	}
	if _, err := s.ReadDir("/workspace/folder"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("listing through a link that leads out says %v", err)
	}
	if _, err := s.ReadDir("/workspace/fifo"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("listing a pipe says %v", err)
	}
	if infos, err := s.ReadDir("/workspace"); err != nil || len(infos) != 12 {
		t.Errorf("the folder lists %d entries, %v", len(infos), err)
	}
}

// TestWritingReplacesALinkAndNotItsTarget guards files outside, hard linked ones too.
func TestWritingReplacesALinkAndNotItsTarget(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, "untouched")
	if err := errors.Join(os.Symlink(secret, filepath.Join(work, "soft")), os.Link(secret, filepath.Join(work, "hard"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"soft", "hard"} {
		if err := s.WriteFile("/workspace/"+name, []byte("mine")); err != nil {
			t.Fatal(err)
		}
		if data, err := s.ReadFile("/workspace/"+name, 10); err != nil || string(data) != "mine" {
			t.Errorf("%s reads %q, %v", name, data, err)
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "untouched" {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
}

// within fails the test when reading hangs.
func within(t *testing.T, read func() ([]byte, error)) ([]byte, error) {
	t.Helper()
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := read()
		done <- result{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
		return nil, nil
	}
}

// TestALinkSwappedDuringReadsNeverLeadsOut races reads, listings and writes against
// somebody who swaps a folder and a file with links that lead out.
func TestALinkSwappedDuringReadsNeverLeadsOut(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	outside := t.TempDir()
	put(t, filepath.Join(outside, "file"), "secret")
	if err := os.Mkdir(filepath.Join(work, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(work, "real", "file"), "open")
	// From the first moment, or a write would make a folder of that name.
	if err := os.Symlink("real", filepath.Join(work, "dir")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	swapped := make(chan error, 1)
	go func() { swapped <- swap(ctx, work, outside) }()
	reads := 0
	for ctx.Err() == nil {
		for _, name := range []string{"/workspace/dir/file", "/workspace/file"} {
			data, err := s.ReadFile(name, 100)
			if err == nil && string(data) != "open" {
				t.Fatalf("read %q", data)
			}
			if err == nil {
				reads++
			}
		}
		_ = s.WriteFile("/workspace/dir/written", []byte("x")) // either refused or inside
		_, _ = s.ReadDir("/workspace/dir")                     // likewise
	}
	if err := <-swapped; err != nil {
		t.Fatal(err)
	}
	if reads == 0 {
		t.Error("no read ever succeeded, so the race was not tried")
	}
	names, err := os.ReadDir(outside)
	if err != nil || len(names) != 1 {
		t.Errorf("outside there are %v, %v", names, err)
	}
}

// swap keeps replacing "dir" and "file" by what is inside and by links to outside.
func swap(ctx context.Context, work, outside string) error {
	next := filepath.Join(work, "next")
	for ctx.Err() == nil {
		for _, link := range []struct{ to, name string }{
			{"real", "dir"}, {outside, "dir"}, {"real/file", "file"}, {filepath.Join(outside, "file"), "file"},
		} {
			if err := os.Symlink(link.to, next); err != nil {
				return err
			}
			if err := os.Rename(next, filepath.Join(work, link.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func FuzzPaths(f *testing.F) {
	for _, seed := range []string{
		"/workspace/a", "/workspace/../../outside/secret", "/workspace/..%2f..%2foutside%2fsecret", "/workspace/out/secret",
		"/skills/library/../../x", "//workspace//./a/", "/workspace/\x00", `/workspace\..\..\x`, "/workspace/%252e%252e/x", "/", "",
	} {
		f.Add(seed)
	}
	base := f.TempDir()
	outside, work := filepath.Join(base, "outside"), filepath.Join(base, "work")
	if err := errors.Join(os.Mkdir(outside, 0o700), os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600),
		os.Symlink("../outside", filepath.Join(work, "out"))); err != nil {
		f.Fatal(err)
	}
	s, err := Open([]Folder{{Guest: "/workspace", Root: work}})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	f.Fuzz(func(t *testing.T, name string) {
		if data, err := s.ReadFile(name, 100); err == nil && string(data) == "secret" {
			t.Errorf("%q leads out", name)
		}
		if s.WriteFile(name, []byte("x")) == nil {
			if !strings.HasPrefix(name, "/") {
				t.Errorf("%q was written", name)
			}
			if data, err := s.ReadFile(name, 10); err != nil || string(data) != "x" {
				t.Errorf("%q was written and reads %q, %v", name, data, err)
			}
			if err := s.Remove(name); err != nil {
				t.Errorf("%q was written and cannot be removed: %v", name, err)
			}
		}
		names, err := os.ReadDir(outside)
		if data, _ := os.ReadFile(filepath.Join(outside, "secret")); err != nil || len(names) != 1 || string(data) != "secret" {
			t.Errorf("%q changed what is outside", name)
		}
	})
}
