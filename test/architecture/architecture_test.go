// Package architecture holds the tests of the project's shape: which package may
// import which, that each says what it is for, and that the paths which the
// documents name exist.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// module is what our own import paths begin with.
const module = "airlock/"

type goPackage struct {
	ImportPath, Name, Doc string
	Imports, GoFiles      []string
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Doc,Imports,GoFiles", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		all = append(all, p)
	}
}

// tiers are the layers of the project, the outermost first. A package imports
// only packages of later tiers, and within its own folder.
var tiers = [][]string{
	{"cmd"},
	{"orchestrator/api", "orchestrator/web", "orchestrator/mcpserver"},
	{"orchestrator"},
	{"bridge", "runtime/wasm", "runtime/docker", "skills", "workspace", "orchestrator/llm", "orchestrator/state", "orchestrator/auth", "orchestrator/metrics", "orchestrator/origins", "orchestrator/docstring"},
	{"workspace/mirror"},
	{"runtime/sandbox", "runtime/helpers", "discovery", "workspace/rooted"},
	{"servers"},
	{"pii"},
	{"ident", "docs"},
}

// place returns the tier of a package and the entry that names it.
func place(path string) (tier int, entry string, ok bool) {
	path = strings.TrimPrefix(path, module)
	tier = -1
	for i, entries := range tiers {
		for _, e := range entries {
			if (path == e || strings.HasPrefix(path, e+"/")) && len(e) > len(entry) {
				tier, entry = i, e
			}
		}
	}
	return tier, entry, tier >= 0
}

func TestDependenciesPointOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from, fromEntry, ok := place(p.ImportPath)
		if !ok {
			if !strings.HasPrefix(p.ImportPath, module+"test") {
				t.Errorf("%s has no place in the tiers; give it one", p.ImportPath)
			}
			continue
		}
		for _, imported := range p.Imports {
			to, toEntry, ok := place(imported)
			if strings.HasPrefix(imported, module) && ok && fromEntry != toEntry && to <= from {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, imported)
			}
		}
	}
}

func TestForbiddenImports(t *testing.T) {
	t.Parallel()
	rules := []struct {
		pkg     string
		allowed []string
		reason  string
	}{
		{module + "pii/reveal", []string{"bridge", "orchestrator/api"}, "who can open personal data must be a short list"},
		{module + "pii/internal/boundary", []string{"pii"}, "only pii makes tokenized text"},
		{"github.com/gofiber/fiber", []string{"orchestrator/api"}, "one package speaks HTTP to users"},
		{"github.com/mark3labs/mcp-go", []string{"servers", "orchestrator/mcpserver"}, "its traps are guarded in one place"},
		{"github.com/anthropics/", []string{"orchestrator/llm/anthropic"}, "a provider's types stay in its driver"},
		{"github.com/openai/", []string{"orchestrator/llm/openai"}, "a provider's types stay in its driver"},
		{"github.com/moby/moby/", []string{"runtime/docker"}, "the engine of containers can be replaced in one place"},
		{"github.com/tetratelabs/wazero", []string{"runtime/wasm"}, "the engine can be replaced in one place"},
		{"github.com/golang-jwt/", []string{"bridge", "orchestrator/auth"}, "session tokens are made and checked in one place, those of callers in another"},
		{"github.com/prometheus/", []string{"orchestrator/metrics", "orchestrator/tracing"}, "what is counted can be reviewed in one place"},
		{"go.opentelemetry.io/otel/exporters", []string{"orchestrator/tracing"}, "what leaves by OTLP is set up in one place"},
		{"go.opentelemetry.io/otel/sdk", []string{"orchestrator/tracing"}, "what leaves by OTLP is set up in one place"},
		{"github.com/getkin/kin-openapi", []string{"test/openapi"}, "the program does not need what its tests check its description with"},
		{"github.com/nats-io/", []string{"orchestrator/state"}, "where things are kept can be replaced in one place"},
		{"github.com/microcosm-cc/bluemonday", []string{"orchestrator/web"}, "markup from outside is let through in one place"},
		{"github.com/alecthomas/chroma", []string{"orchestrator/web"}, "only people look at coloured code"},
		{"github.com/alecthomas/kong", []string{"cmd"}, "only cmd reads flags and environment"},
	}
	all := packages(t)
	for _, rule := range rules {
		for _, p := range all {
			path := strings.TrimPrefix(p.ImportPath, module)
			mayImport := slices.ContainsFunc(rule.allowed, func(a string) bool { return path == a || strings.HasPrefix(path, a+"/") })
			for _, imported := range p.Imports {
				if strings.HasPrefix(imported, rule.pkg) && !mayImport {
					t.Errorf("%s imports %s; only %v may: %s", path, imported, rule.allowed, rule.reason)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && len(p.Doc) < 40 {
			t.Errorf("%s has no package comment that tells what it is for", p.ImportPath)
		}
	}
}

// inDocs finds the paths that documents name in `code` or as a link.
var inDocs = regexp.MustCompile("`((?:[a-z_.]+/)+[A-Za-z0-9_.-]*)`|\\]\\(([^)#:]+)(?:#[^)]*)?\\)")

// tops are the first parts of paths that are ours; others in `code` are examples.
var tops = []string{"bridge", "cmd", "discovery", "docs", "ident", "orchestrator", "pii", "runtime", "scripts", "servers", "skills", "test", "tools", "workspace", ".ci"}

func TestPathsInDocumentsExist(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(documents, root+"/README.md", root+"/CHANGELOG.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("read %s: %v", name, err)
			continue
		}
		for _, m := range inDocs.FindAllStringSubmatch(string(text), -1) {
			path, base := m[1], root
			if path == "" {
				path, base = m[2], filepath.Dir(name)
			} else if top, _, _ := strings.Cut(path, "/"); !slices.Contains(tops, top) {
				continue
			}
			if _, err := os.Stat(filepath.Join(base, path)); err != nil {
				t.Errorf("%s names %s, which does not exist", name, path)
			}
		}
	}
}
