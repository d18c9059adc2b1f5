package wasm

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   string
		most int
		want string
	}{
		"plain text":         {"a\tb\nc", 100, "a\tb\nc"},
		"characters":         {"grüße 🎉", 100, "grüße 🎉"},
		"terminal escapes":   {"\x1b[2J", 100, `\x1b[2J`},
		"NUL and DEL":        {"a\x00\x7f", 100, `a\x00\x7f`},
		"one byte controls":  {"\u009b1m", 100, `\u009b1m`},
		"no UTF-8":           {"a\xffb", 100, "a\uFFFDb"},
		"cut":                {"abcdef", 3, "abc"},
		"cut at a character": {"aü", 2, "a"},
		"cut at an escape":   {"a\x1b", 3, "a"},
		"nothing":            {"", 10, ""},
		"no room":            {"a", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := clean(tc.in, tc.most); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzCleanIsBoundedAndClean(f *testing.F) {
	f.Add("a\x1b\xff", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		got := clean(s, most)
		if len(got) > max(most, 0) || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Errorf("clean(%q, %d) = %q", s, most, got)
		}
	})
}

func TestScriptName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "script", "a.js": "a.js", "/skills/a b.js": "/skills/a_b.js", "(x:1:2)\n": "_x_1_2_", strings.Repeat("a", 500): strings.Repeat("a", 200),
	} {
		if got := scriptName(in); got != want {
			t.Errorf("scriptName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBridgeCalls(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Query().Get("q")) })
	large := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 20 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	for name, tc := range map[string]struct {
		bridge       http.Handler
		method, path string
		status, body string
	}{
		"a question":           {ok, "GET", "/v1/tools?q=a%20b", "200", "a b"},
		"outside the API":      {ok, "GET", "/metrics", "404", "unknown_route"},
		"another host":         {ok, "GET", "http://elsewhere/v1/tools", "404", "unknown_route"},
		"another method":       {ok, "CONNECT", "/v1/tools", "404", "unknown_route"},
		"a malformed path":     {ok, "GET", "/v1/%zz", "400", "bad_request"},
		"a split header":       {ok, "GET", "/v1/tools HTTP/1.1\r\nX: y", "400", "bad_request"},
		"no bridge":            {nil, "GET", "/v1/tools", "503", "unavailable"},
		"a huge answer":        {large, "GET", "/v1/tools", "502", "result_too_large"},
		"an answer of nothing": {http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "GET", "/v1/tools", "200", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := callBridge(t.Context(), sandbox.Execution{Bridge: tc.bridge}, tc.method, tc.path, nil)
			if status != tc.status || !strings.Contains(string(body), tc.body) {
				t.Errorf("status %s, body %.200q; want %s and %q", status, body, tc.status, tc.body)
			}
		})
	}
}

// failing are files of which every operation fails.
type failing struct {
	sandbox.Files
	err error
}

func (f failing) Stat(string) (fs.FileInfo, error)       { return nil, f.err }
func (f failing) WriteFile(string, []byte) error         { return f.err }
func (f failing) ReadDir(string) ([]fs.FileInfo, error)  { return nil, f.err }
func (f failing) Remove(string) error                    { return f.err }
func (f failing) ReadFile(string, int64) ([]byte, error) { return nil, f.err }

func TestFileErrorsHaveCodesAndNothingOfTheHost(t *testing.T) {
	t.Parallel()
	for code, cause := range map[string]error{
		"ENOENT": fs.ErrNotExist, "EACCES": fs.ErrPermission, "EINVAL": fs.ErrInvalid, "EFBIG": syscall.EFBIG,
		"ENOSPC": syscall.EDQUOT, "EISDIR": syscall.EISDIR, "EIO": errors.New("disk on fire"),
	} {
		for _, operation := range []string{"read", "write", "list", "stat", "remove"} {
			err := &fs.PathError{Op: "open", Path: "/home/host/secret", Err: cause}
			got, message, _ := serveFile(failing{err: err}, operation, "/workspace/a\x1b", nil)
			if got != code || strings.Contains(message, "host") || !strings.Contains(message, `/workspace/a\x1b`) {
				t.Errorf("%s: code %q, message %q; want %q", operation, got, message, code)
			}
		}
	}
	if code, _, _ := serveFile(nil, "read", "/workspace/a", nil); code != "EACCES" {
		t.Errorf("without files: code %q", code)
	}
	if code, _, _ := serveFile(failing{}, "chmod", "/workspace/a", nil); code != "EINVAL" {
		t.Errorf("an unknown operation: code %q", code)
	}
}

// mapped are files of a map, of which only Stat works.
type mapped struct {
	sandbox.Files
	files fstest.MapFS
}

func (m mapped) Stat(name string) (fs.FileInfo, error) {
	return m.files.Stat(strings.TrimPrefix(name, "/"))
}

func TestLargeFilesAreNotRead(t *testing.T) {
	t.Parallel()
	files := mapped{files: fstest.MapFS{"workspace/big": {Data: make([]byte, wire.MaxFile+1)}, "workspace/dir": {Mode: fs.ModeDir}}}
	for path, want := range map[string]string{"/workspace/big": "EFBIG", "/workspace/dir": "EISDIR"} {
		if code, _, _ := serveFile(files, "read", path, nil); code != want {
			t.Errorf("%s: code %q, want %q", path, code, want)
		}
	}
}
