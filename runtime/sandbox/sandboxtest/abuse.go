package sandboxtest

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"airlock/runtime/sandbox"
)

// testAbuse runs each probe in a language of the backend, all in one sandbox, and
// looks after each that the next execution is clean.
func (s *suite) testAbuse(t *testing.T) {
	box, files := s.open(t), newFolders(t)
	for _, p := range Probes() {
		if !slices.Contains(s.backend.Languages(), p.Language) {
			continue // the table of docs/SECURITY.md says so
		}
		t.Run(fmt.Sprintf("%d %s in %s", p.Number, p.Name, p.Language), func(t *testing.T) {
			x := script(p.Code)
			x.Language, x.Bridge, x.Files = p.Language, handlerFunc(echo), files
			if p.Limit != nil {
				p.Limit(&x.Limits)
			}
			o := run(t, box, x)
			if !slices.Contains(p.Reasons, o.Reason) {
				t.Errorf("it ended with %q, want one of %v (%.200s; stderr %.200q)", o.Reason, p.Reasons, o.describe(), o.stderr)
			}
			if p.Value != "" && o.value != p.Value {
				t.Errorf("value is %.300q, want %q", o.value, p.Value)
			}
			boundedTexts(t, o, x.Limits)
			s.wellAfter(t, box, files)
			s.cleanAfter(t, box, files)
		})
	}
}

// cleanAfter looks for what the probe may have left where only Python can look, and
// makes room in the workspace.
func (s *suite) cleanAfter(t *testing.T, box sandbox.Sandbox, files *folders) {
	t.Helper()
	root := files.roots["/workspace"]
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil || len(entries) > 20 {
		t.Errorf("%d files are left in the workspace (%v)", len(entries), err)
	}
	for _, e := range entries {
		if err := root.RemoveAll(e.Name()); err != nil {
			t.Error(err)
		}
	}
	if !slices.Contains(s.backend.Languages(), sandbox.Python) {
		return
	}
	x := script(`
import os
result = [[n for n in os.listdir("/tmp") if n != ".matplotlib"], [p for p in os.listdir("/proc") if p.isdigit() and open(f"/proc/{p}/comm").read().strip() in ("sleep", "yes", "bash")], os.access("/workspace", os.W_OK)]`)
	x.Language, x.Files = sandbox.Python, files
	o := run(t, box, x)
	o.want(t, sandbox.ReasonOK)
	if o.value != `[[],[],true]` {
		t.Errorf("the next execution found %s", o.value)
	}
}

func boundedTexts(t *testing.T, o outcome, l sandbox.Limits) {
	t.Helper()
	if int64(len(o.stdout)) > l.OutputBytes || int64(len(o.stderr)) > l.OutputBytes || int64(len(o.value)) > l.ResultBytes {
		t.Error("more was kept than the limits allow")
	}
	if len(o.message) > 256<<10 || len(o.stack) > 256<<10 {
		t.Errorf("the error has %d and %d bytes", len(o.message), len(o.stack))
	}
	if text := o.stdout + o.stderr + o.message + o.stack; !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		t.Error("text is not clean UTF-8")
	}
}

// testIsolation leaves traces that the next execution, and another session, must
// not find.
func (s *suite) testIsolation(t *testing.T) {
	box, other := s.open(t), s.open(t)
	run(t, box, script(`
		globalThis.secret = 1; var leaked = 2; Object.prototype.polluted = 3;
		Array.prototype.map = () => "stolen"; JSON.stringify = () => "forged"; console.log = () => {};
		setInterval(() => { globalThis.secret++ }, 1); return 1`)).want(t, sandbox.ReasonOK)
	const look = `console.log("hi"); return [typeof secret, typeof leaked, typeof {}.polluted, [1].map((n) => n + 1), JSON.stringify({})]`
	for name, b := range map[string]sandbox.Sandbox{"the same session": box, "another session": other} {
		t.Run(name, func(t *testing.T) {
			o := run(t, b, script(look))
			o.want(t, sandbox.ReasonOK)
			if o.value != `["undefined","undefined","undefined",[2],"{}"]` || o.stdout != "hi\n" {
				t.Errorf("value is %q, stdout %q", o.value, o.stdout)
			}
		})
	}
}
