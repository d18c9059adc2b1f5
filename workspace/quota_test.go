package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestQuotas(t *testing.T) {
	t.Parallel()
	kilobyte := make([]byte, 1000)
	for name, tc := range map[string]struct {
		use  func(*testing.T, *Space, string) error
		want error
	}{
		"as many bytes as allowed": {func(_ *testing.T, s *Space, _ string) error { return s.WriteFile("/workspace/a", kilobyte) }, nil},
		"a byte more":              {func(_ *testing.T, s *Space, _ string) error { return s.WriteFile("/workspace/a", append(kilobyte, 0)) }, ErrQuota},
		"a byte more in two files": {func(_ *testing.T, s *Space, _ string) error {
			return errors.Join(s.WriteFile("/workspace/a", kilobyte), s.WriteFile("/workspace/b", []byte{0}))
		}, ErrQuota},
		"a full folder, overwritten": {func(_ *testing.T, s *Space, _ string) error {
			return errors.Join(s.WriteFile("/workspace/a", kilobyte), s.WriteFile("/workspace/a", kilobyte))
		}, nil},
		"room made by removing": {func(_ *testing.T, s *Space, _ string) error {
			return errors.Join(s.WriteFile("/workspace/a", kilobyte), s.Remove("/workspace/a"), s.WriteFile("/workspace/b", kilobyte))
		}, nil},
		"room made by writing less": {func(_ *testing.T, s *Space, _ string) error {
			return errors.Join(s.WriteFile("/workspace/a", kilobyte), s.WriteFile("/workspace/a", nil), s.WriteFile("/workspace/b", kilobyte))
		}, nil},
		"empty files without end": {func(_ *testing.T, s *Space, _ string) error { return writeMany(s, 11) }, ErrQuota},
		"folders count": {func(_ *testing.T, s *Space, _ string) error {
			return s.WriteFile("/workspace/1/2/3/4/5/6/7/8/9/10/f", nil)
		}, ErrQuota},
		"as many as allowed": {func(_ *testing.T, s *Space, _ string) error {
			return s.WriteFile("/workspace/1/2/3/4/5/6/7/8/9/f", nil)
		}, nil},
		"files that others left": {func(t *testing.T, s *Space, work string) error {
			put(t, filepath.Join(work, "theirs"), string(kilobyte))
			return s.WriteFile("/workspace/a", []byte{0})
		}, ErrQuota},
		"a sparse file that others left": {func(t *testing.T, s *Space, work string) error {
			put(t, filepath.Join(work, "sparse"), "")
			return errors.Join(os.Truncate(filepath.Join(work, "sparse"), 1<<40), s.WriteFile("/workspace/a", []byte{0}))
		}, ErrQuota},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, work := testSpace(t)
			if err := tc.use(t, s, work); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func writeMany(s *Space, n int) error {
	for i := range n {
		if err := s.WriteFile(fmt.Sprintf("/workspace/%d", i), nil); err != nil {
			return err
		}
	}
	return nil
}

// TestAFullFolderIsCountedAgain guards against refusing for ever what others made
// room for, and against counting at every refusal.
func TestAFullFolderIsCountedAgain(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	synctest.Test(t, func(t *testing.T) {
		put(t, filepath.Join(work, "a"), strings.Repeat("x", 1000))
		if err := s.WriteFile("/workspace/b", []byte{0}); !errors.Is(err, ErrQuota) {
			t.Errorf("what was there is not counted: %v", err)
		}
		if err := os.Remove(filepath.Join(work, "a")); err != nil {
			t.Fatal(err)
		}
		if err := s.WriteFile("/workspace/b", []byte{0}); !errors.Is(err, ErrQuota) {
			t.Errorf("counted again at once: %v", err)
		}
		<-time.After(recountPause)
		if err := s.WriteFile("/workspace/b", []byte{0}); err != nil {
			t.Errorf("not counted again: %v", err)
		}
	})
}

func TestQuotaHoldsForWritersAtOnce(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	var done sync.WaitGroup
	var kept atomic.Int64
	for i := range 50 {
		done.Go(func() {
			if s.WriteFile(fmt.Sprintf("/workspace/%d", i), make([]byte, 300)) == nil {
				kept.Add(1)
			}
		})
	}
	done.Wait()
	files, err := os.ReadDir(work)
	if err != nil || len(files) != 3 || kept.Load() != 3 {
		t.Errorf("%d files are there and %d were written, %v; 3 have room", len(files), kept.Load(), err)
	}
}

// TestReadersSeeWholeFiles guards the replacing of files by rename.
func TestReadersSeeWholeFiles(t *testing.T) {
	t.Parallel()
	s, _ := testSpace(t)
	if err := s.WriteFile("/workspace/a", make([]byte, 400)); err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 200 {
			if err := s.WriteFile("/workspace/a", make([]byte, 300+100*(i%2))); err != nil {
				t.Error(err)
			}
		}
	})
	for range 500 {
		data, err := s.ReadFile("/workspace/a", 1000)
		if err != nil || (len(data) != 300 && len(data) != 400) {
			t.Errorf("read %d bytes, %v", len(data), err)
		}
	}
	writer.Wait()
}

func TestLeftoversOfADeadProcessAreSwept(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	old, young := filepath.Join(work, ".airlock-write-old"), filepath.Join(work, ".airlock-write-young")
	put(t, old, "half")
	put(t, young, "half")
	before := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	s, err := Open([]Folder{{Guest: "/workspace", Root: work}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Lstat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old one: %v", err)
	}
	if _, err := os.Lstat(young); err != nil {
		t.Errorf("the one that may still be written: %v", err)
	}
}
