package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"airlock/ident"
)

const user, otherUser = "0123456789abcdef01234567", "ba9876543210ba9876543210"

func testStore(t *testing.T) *Store {
	t.Helper()
	s, err := New(Options{Dir: filepath.Join(t.TempDir(), "data"), QuotaBytes: 5000, MaxFiles: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func artifactsOf(t *testing.T, s *Store, userKey string) string {
	t.Helper()
	dir, err := s.Artifacts(userKey)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestArtifactsAreListedAndRead(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	if list, err := s.List(user); err != nil || len(list) != 0 {
		t.Fatalf("a new user has %v, %v", list, err)
	}
	dir := artifactsOf(t, s, user)
	if err := os.MkdirAll(filepath.Join(dir, "charts/may"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"report.md", "charts/may/a.PNG", "page.html", "drawing.svg", "odd"} {
		put(t, filepath.Join(dir, name), strings.Repeat("x", i))
		when := time.Unix(int64(1000-i), 0)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(artifactsOf(t, s, otherUser), "theirs.txt"), "theirs")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	want := []Artifact{
		{Name: "report.md", Size: 0, MIME: "text/markdown; charset=utf-8", Text: true},
		{Name: "charts/may/a.PNG", Size: 1, MIME: "image/png"},
		{Name: "page.html", Size: 2, MIME: "text/html; charset=utf-8", Text: true},
		{Name: "drawing.svg", Size: 3, MIME: "image/svg+xml", Text: true},
		{Name: "odd", Size: 4, MIME: "application/octet-stream"},
	}
	list, err := s.List(user)
	if err != nil || len(list) != len(want) {
		t.Fatalf("listed %v, %v", list, err)
	}
	for i, a := range list {
		data, read, err := s.ReadArtifact(user, a.Name, 100)
		if err != nil || int64(len(data)) != a.Size || read != a {
			t.Errorf("read %v with %d bytes, %v", read, len(data), err)
		}
		if a.Modified = (time.Time{}); a != want[i] {
			t.Errorf("listed %v, want %v", a, want[i])
		}
	}
}

func TestArtifactsOfNobodyElseAreRead(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	dir := artifactsOf(t, s, user)
	put(t, filepath.Join(dir, "big"), strings.Repeat("x", 101))
	put(t, filepath.Join(artifactsOf(t, s, otherUser), "secret"), "theirs")
	if err := os.Symlink("../"+otherUser, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		user, name string
		want       error
	}{
		{user, "../" + otherUser + "/secret", fs.ErrInvalid},
		{user, "..%2f" + otherUser + "%2fsecret", fs.ErrInvalid},
		{user, "%2e%2e/" + otherUser + "/secret", fs.ErrInvalid},
		{user, "/etc/passwd", fs.ErrInvalid},
		{user, "", fs.ErrInvalid},
		{user, "a\x00b", fs.ErrInvalid},
		{user, strings.Repeat("n", 300), fs.ErrInvalid},
		{user, strings.Repeat("n/", 3000), fs.ErrInvalid},
		{user, "out/secret", fs.ErrPermission},
		{user, ".", fs.ErrInvalid},
		{user, "none", fs.ErrNotExist},
		{user, "big", ErrTooLarge},
		{"../" + user, "big", ErrName},
		{"", "big", ErrName},
		{"someone@example.com", "big", ErrName},
	} {
		data, _, err := s.ReadArtifact(tc.user, tc.name, 100)
		if !errors.Is(err, tc.want) || data != nil {
			t.Errorf("%.20q of %q: read %d bytes, %v, want %v", tc.name, tc.user, len(data), err, tc.want)
		}
	}
}

func TestPruneKeepsWhatIsWanted(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	if err := s.Prune(func(ident.Session) bool { return false }); err != nil {
		t.Fatal(err)
	}
	kept, gone := ident.NewSession(), ident.NewSession()
	dirs := map[ident.Session]string{}
	for _, id := range []ident.Session{kept, gone} {
		dir, err := s.Session(user, id)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "file"), "x")
		dirs[id] = dir
	}
	if err := s.Prune(func(id ident.Session) bool { return id == kept }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dirs[kept]); err != nil {
		t.Errorf("the one to keep: %v", err)
	}
	if _, err := os.Stat(dirs[gone]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the other: %v", err)
	}
}

func TestRemovalTakesWhatIsNamedAndNothingElse(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	first, second := ident.NewSession(), ident.NewSession()
	dirs := map[string]string{}
	for name, get := range map[string]func() (string, error){
		"first":  func() (string, error) { return s.Session(user, first) },
		"second": func() (string, error) { return s.Session(user, second) },
		"other":  func() (string, error) { return s.Session(otherUser, first) },
		"files":  func() (string, error) { return s.Artifacts(user) },
	} {
		dir, err := get()
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "file"), "x")
		dirs[name] = dir
	}
	// A link must be removed, not what it leads to.
	if err := os.Symlink(dirs["other"], filepath.Join(dirs["first"], "link")); err != nil {
		t.Fatal(err)
	}
	left := func() (names string) {
		for _, name := range []string{"first", "second", "other", "files"} {
			if _, err := os.Stat(filepath.Join(dirs[name], "file")); err == nil {
				names += name + " "
			}
		}
		return strings.TrimSpace(names)
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return s.RemoveSession(t.Context(), user, first) }, "second other files"},
		{func() error { return s.RemoveSession(t.Context(), user, first) }, "second other files"},
		{func() error { return s.RemoveUser(user) }, "other"},
	} {
		if err := step.do(); err != nil {
			t.Error(err)
		}
		if got := left(); got != step.want {
			t.Errorf("left are %q, want %q", got, step.want)
		}
	}
	for _, bad := range []string{"", "..", "a/b", "x@example.com"} {
		if err := errors.Join(s.RemoveUser(bad)); !errors.Is(err, ErrName) {
			t.Errorf("removing user %q says %v", bad, err)
		}
		if err := s.RemoveSession(t.Context(), user, ident.Session(bad)); !errors.Is(err, ErrName) {
			t.Errorf("removing session %q says %v", bad, err)
		}
	}
	if got := left(); got != "other" {
		t.Errorf("left are %q", got)
	}
}

func TestArtifactsAreRemovedOneByOne(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	dir := artifactsOf(t, s, user)
	for _, name := range []string{"a.txt", "charts/may/b.png", "charts/c.png"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"a.txt": nil, "charts/may/b.png": nil, "charts": fs.ErrInvalid, "link": fs.ErrInvalid, "none": fs.ErrNotExist,
		"../" + otherUser + "/a.txt": fs.ErrInvalid, "/a.txt": fs.ErrInvalid, ".": fs.ErrInvalid,
	} {
		if err := s.RemoveArtifact(user, name); !errors.Is(err, want) {
			t.Errorf("removing %q: %v, want %v", name, err, want)
		}
	}
	if err := s.RemoveArtifact(otherUser, "a.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a user without files: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("what the link leads to is gone: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "charts", "may")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the emptied folder: %v", err)
	}
	if left, err := s.List(user); err != nil || len(left) != 1 || left[0].Name != "charts/c.png" {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestOldArtifactsExpire(t *testing.T) {
	t.Parallel()
	s, now := testStore(t), time.Date(2026, 5, 10, 0, 0, 0, 0, time.UTC)
	if expired, err := s.Expire(t.Context(), now, now); err != nil || len(expired) != 0 {
		t.Fatalf("of nobody: %v, %v", expired, err)
	}
	for name, age := range map[string]time.Duration{"old.txt": 48 * time.Hour, "new.txt": time.Hour, "future.txt": -9000 * time.Hour} {
		path := filepath.Join(artifactsOf(t, s, user), name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	expire := func(now time.Time) string {
		t.Helper()
		expired, err := s.Expire(t.Context(), now.Add(-24*time.Hour), now)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(expired[user])
		return strings.Join(expired[user], " ")
	}
	if got := expire(now); got != "old.txt" {
		t.Errorf("first %q expired", got)
	}
	if got := expire(now.Add(25 * time.Hour)); got != "future.txt new.txt" {
		t.Errorf("a day later %q expired", got)
	}
	if left, err := s.List(user); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
