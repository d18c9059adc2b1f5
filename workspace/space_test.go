package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// testSpace has every kind of folder a session has.
func testSpace(t *testing.T) (s *Space, work string) {
	t.Helper()
	work = t.TempDir()
	skills, shared := t.TempDir(), t.TempDir()
	put(t, filepath.Join(skills, "mine.js"), "1")
	put(t, filepath.Join(skills, "library"), "covered by the folder of that name")
	put(t, filepath.Join(shared, "ours.js"), "2")
	s, err := Open([]Folder{
		{Guest: "/workspace", Root: work, QuotaBytes: 1000, MaxFiles: 10},
		{Guest: "/skills", Root: skills},
		{Guest: "/skills/shared", Root: shared, ReadOnly: true},
		{Guest: "/skills/library", FS: fstest.MapFS{"sum/main.js": {Data: []byte("3")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, work
}

func put(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFileWrittenIsRead(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	for _, text := range []string{"one", "two, longer", ""} {
		if err := s.WriteFile("/workspace/a/b.txt", []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := s.ReadFile("//workspace/./a/b.txt", 100)
		if err != nil || string(got) != text {
			t.Fatalf("read %q, %v, want %q", got, err, text)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(work, ".*")); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
	if err := s.Remove("/workspace/a/b.txt"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Stat("/workspace/a/b.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after removal Stat says %v", err)
	}
}

func TestListings(t *testing.T) {
	t.Parallel()
	s, _ := testSpace(t)
	for folder, want := range map[string]string{
		"/":                   "skills/ workspace/",
		"/skills":             "library/ mine.js shared/",
		"/skills/":            "library/ mine.js shared/",
		"/skills/library":     "sum/",
		"/skills/library/sum": "main.js",
		"/skills/shared":      "ours.js",
		"/workspace":          "",
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			infos, err := s.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, i := range infos {
				name := i.Name()
				if i.IsDir() {
					name += "/"
				}
				names = append(names, name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("has %q, want %q", got, want)
			}
			if info, err := s.Stat(folder); err != nil || !info.IsDir() {
				t.Errorf("Stat says %v, %v", info, err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s, work := testSpace(t)
	put(t, filepath.Join(work, "file"), "x")
	long := strings.Repeat("n", 256)
	read := func(p string) error { _, err := s.ReadFile(p, 1000); return err }
	list := func(p string) error { _, err := s.ReadDir(p); return err }
	write := func(p string) error { return s.WriteFile(p, []byte("x")) }
	for _, tc := range []struct {
		name string
		do   func(string) error
		path string
		want error
	}{
		{"a relative path", read, "workspace/file", fs.ErrInvalid},
		{"no path", read, "", fs.ErrInvalid},
		{"a path up", read, "/workspace/../etc/passwd", fs.ErrInvalid},
		{"a path up, encoded", read, "/workspace/..%2f..%2fetc/passwd", fs.ErrInvalid},
		{"dots, encoded", read, "/workspace/%2E%2e/file", fs.ErrInvalid},
		{"dots, encoded twice", read, "/workspace/%252e%252e/file", fs.ErrInvalid},
		{"a NUL", read, "/workspace/file\x00.txt", fs.ErrInvalid},
		{"an encoded NUL", read, "/workspace/file%00", fs.ErrInvalid},
		{"a line break", write, "/workspace/a\nb", fs.ErrInvalid},
		{"backslashes", read, `/workspace/..\..\file`, fs.ErrInvalid},
		{"bytes that are not UTF-8", write, "/workspace/\xff", fs.ErrInvalid},
		{"a long name", write, "/workspace/" + long, fs.ErrInvalid},
		{"a long path", write, "/workspace/" + strings.Repeat("abc/", 1100) + "f", fs.ErrInvalid},
		{"a deep path", write, "/workspace/" + strings.Repeat("d/", 70) + "f", fs.ErrInvalid},
		{"the host's files", read, "/etc/passwd", fs.ErrPermission},
		{"the host's folders", list, "/etc", fs.ErrPermission},
		{"writing at the top", write, "/file", fs.ErrPermission},
		{"reading a folder", read, "/workspace", syscall.EISDIR},
		{"reading the top", read, "/", syscall.EISDIR},
		{"writing over a folder of the sandbox", write, "/workspace", syscall.EISDIR},
		{"writing over a folder inside another", write, "/skills/library", fs.ErrPermission},
		{"removing a folder of the sandbox", s.Remove, "/workspace", fs.ErrInvalid},
		{"writing to the library", write, "/skills/library/sum/main.js", fs.ErrPermission},
		{"removing from the library", s.Remove, "/skills/library/sum/main.js", fs.ErrPermission},
		{"writing to a read-only folder", write, "/skills/shared/x", fs.ErrPermission},
		{"a file that is not there", read, "/workspace/none", fs.ErrNotExist},
		{"a file of the library that is not there", read, "/skills/library/none", fs.ErrNotExist},
		{"a folder that is not there", list, "/workspace/none", fs.ErrNotExist},
		{"removing what is not there", s.Remove, "/workspace/none", fs.ErrNotExist},
		{"listing a file", list, "/workspace/file", fs.ErrInvalid},
		{"a file used as a folder", write, "/workspace/file/x", fs.ErrInvalid},
		{"the name of a file being written", write, "/workspace/.airlock-write-x", fs.ErrPermission},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.do(tc.path)
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if err != nil && s.mounts[tc.path] == nil && len(tc.path) > 12 && strings.Contains(err.Error(), tc.path) {
				t.Errorf("the error holds the path: %v", err)
			}
		})
	}
}

func TestOpenRefusesBadFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, folders := range map[string][]Folder{
		"a relative name":      {{Guest: "workspace", Root: dir}},
		"the top":              {{Guest: "/", Root: dir}},
		"a name that goes up":  {{Guest: "/a/../b", Root: dir}},
		"nothing behind it":    {{Guest: "/a"}},
		"two things behind it": {{Guest: "/a", Root: dir, FS: fstest.MapFS{}}},
		"a missing folder":     {{Guest: "/a", Root: filepath.Join(dir, "none")}},
		"a name twice":         {{Guest: "/a", Root: dir}, {Guest: "/a", Root: dir}},
		"a negative quota":     {{Guest: "/a", Root: dir, QuotaBytes: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s, err := Open(folders); err == nil {
				t.Errorf("was opened: %v", slices.Collect(func(yield func(string) bool) {
					for g := range s.mounts {
						if !yield(g) {
							return
						}
					}
				}))
			}
		})
	}
}
