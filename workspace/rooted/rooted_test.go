package rooted

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{
		".":                              nil,
		"a":                              nil,
		"a/b c/ü-ä.txt":                  nil,
		"100%.txt":                       nil,
		"...":                            nil,
		"a..b":                           nil,
		".hidden":                        nil,
		strings.Repeat("n", 255):         nil,
		"":                               fs.ErrInvalid,
		"/":                              fs.ErrInvalid,
		"/a":                             fs.ErrInvalid,
		"a/":                             fs.ErrInvalid,
		"a//b":                           fs.ErrInvalid,
		"./a":                            fs.ErrInvalid,
		"a/..":                           fs.ErrInvalid,
		"..":                             fs.ErrInvalid,
		"a%2Fb":                          fs.ErrInvalid,
		"a%5cb":                          fs.ErrInvalid,
		"%25252e":                        fs.ErrInvalid,
		"a\tb":                           fs.ErrInvalid,
		"a\x7fb":                         fs.ErrInvalid,
		"a\u202egpj.exe":                 fs.ErrInvalid,
		"a\u2066b":                       fs.ErrInvalid,
		"שלום.txt":                       nil,
		"\xc3":                           fs.ErrInvalid,
		strings.Repeat("n", 256):         fs.ErrInvalid,
		strings.Repeat("n/", 64) + "n":   fs.ErrInvalid,
		"a/" + tempPrefix + "x":          fs.ErrPermission,
		strings.Repeat("nnnn/", 1000):    fs.ErrInvalid,
		strings.Repeat("n/", 63) + "end": nil,
	} {
		if err := CheckName(name); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", name, err, want)
		}
	}
}

func openTest(t *testing.T) (*Dir, string) {
	t.Helper()
	host := t.TempDir()
	d, err := Open(host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, host
}

func TestWalkIsBounded(t *testing.T) {
	t.Parallel()
	d, host := openTest(t)
	if err := os.MkdirAll(filepath.Join(host, "b/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b/c/d", "b/e", "f"} {
		if err := d.WriteFile(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	found, err := d.Walk(".", 6)
	var names []string
	for _, e := range found {
		names = append(names, e.Name)
	}
	if want := []string{"a", "b", "f", "b/c", "b/e", "b/c/d"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("found %v, %v, want %v", names, err, want)
	}
	if _, err := d.Walk(".", 5); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one too many says %v", err)
	}
	if _, err := d.ReadDir(".", 2); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a list with one too many says %v", err)
	}
	if _, err := d.Walk("none", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there says %v", err)
	}
}

// TestWalkStopsInAbyss guards against the cost of folders in folders without end,
// which grows with the square of the depth.
func TestWalkStopsInAbyss(t *testing.T) {
	t.Parallel()
	d, _ := openTest(t)
	at := d.root
	for i := range 100 {
		name := strconv.Itoa(i)
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close()
		at = next
	}
	if _, err := d.Walk(".", 1000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("walked: %v", err)
	}
}

func TestMakeDirsAsksForEachFolder(t *testing.T) {
	t.Parallel()
	d, _ := openTest(t)
	asked := 0
	full := errors.New("full")
	may := func() error {
		if asked++; asked > 2 {
			return full
		}
		return nil
	}
	if made, err := d.MakeDirs("a/b/c", may); made != 2 || !errors.Is(err, full) {
		t.Errorf("made %d, %v", made, err)
	}
	if made, err := d.MakeDirs("a/b", may); made != 0 || err != nil || asked != 3 {
		t.Errorf("made %d of what was there, %v, asked %d times", made, err, asked)
	}
	if err := d.WriteFile("a/file", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.MakeDirs("a/file/x", may); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a folder in a file says %v", err)
	}
}

func TestNamesThatLeadOutAreRefusedByEveryMethod(t *testing.T) {
	t.Parallel()
	d, host := openTest(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(host, "out")); err != nil {
		t.Fatal(err)
	}
	for method, call := range map[string]func(string) error{
		"ReadFile":  func(n string) error { _, _, err := d.ReadFile(n, 10); return err },
		"ReadDir":   func(n string) error { _, err := d.ReadDir(n, 10); return err },
		"Stat":      func(n string) error { _, err := d.Stat(n); return err },
		"Lstat":     func(n string) error { _, err := d.Lstat(n); return err },
		"WriteFile": func(n string) error { return d.WriteFile(n, nil) },
		"MakeDirs":  func(n string) error { _, err := d.MakeDirs(n, always); return err },
		"OpenFile":  func(n string) error { f, _, err := d.OpenFile(n); return errors.Join(err, f.Close()) },
		"Readlink":  func(n string) error { _, err := d.Readlink(n); return err },
		"Symlink":   func(n string) error { return d.Symlink("/", n) },
		"Run":       func(n string) error { return d.SetExecutable(n, true) },
		"Date":      func(n string) error { return d.Date(n, time.Now()) },
		"Remove":    d.Remove,
		"RemoveAll": d.RemoveAll,
		"Walk":      func(n string) error { _, err := d.Walk(n, 10); return err },
		"Sub":       func(n string) error { s, err := d.Sub(n); return errors.Join(err, closed(s)) },
	} {
		for name, want := range map[string]error{"../x": fs.ErrInvalid, "/etc": fs.ErrInvalid, "out/x": fs.ErrPermission} {
			err := call(name)
			// Renaming what is not there, or removing what cannot be seen, are refused too.
			if !errors.Is(err, want) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %s says %v", method, name, err)
			}
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside there are %v, %v", left, err)
	}
}

func TestAStampChangesWithEachWrite(t *testing.T) {
	t.Parallel()
	d, host := openTest(t)
	name := filepath.Join(host, "a")
	look := func() Stamp {
		for {
			info, err := d.Lstat("a")
			if err != nil {
				t.Fatal(err)
			}
			if stamp, sure := StampOf(info); sure {
				return stamp
			}
		}
	}
	if err := d.WriteFile("a", []byte("one")); err != nil {
		t.Fatal(err)
	}
	before, info := look(), must(os.Stat(name))
	if look() != before {
		t.Error("the stamp of an untouched file changed")
	}
	if err := errors.Join(os.WriteFile(name, []byte("two"), 0), os.Chtimes(name, time.Time{}, info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if after := look(); runtime.GOOS == "linux" && after == before {
		t.Error("a write whose time was set back has the old stamp")
	}
}

func must(info fs.FileInfo, err error) fs.FileInfo {
	if err != nil {
		panic(err)
	}
	return info
}

func TestWriteFromChangesNothingWhereItFails(t *testing.T) {
	t.Parallel()
	d, host := openTest(t)
	if err := d.WriteFile("a", []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := d.WriteFrom("a", true, func(w io.Writer) error {
		_, err := w.Write([]byte("ne"))
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if data, _ := os.ReadFile(filepath.Join(host, "a")); string(data) != "old" {
		t.Errorf("the file holds %q", data)
	}
	if left, _ := os.ReadDir(host); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
	if err := d.WriteFrom("a", true, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }); err != nil {
		t.Fatal(err)
	}
	if info := must(os.Stat(filepath.Join(host, "a"))); info.Mode() != 0o700 || info.Size() != 3 {
		t.Errorf("it has %v and %d bytes", info.Mode(), info.Size())
	}
}

func always() error { return nil }

func closed(d *Dir) error {
	if d == nil {
		return nil
	}
	return d.Close()
}
