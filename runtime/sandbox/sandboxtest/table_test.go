package sandboxtest

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root     = "../../.."
	document = root + "/docs/SECURITY.md"
	begin    = "<!-- the table: written by make security-table -->\n"
	end      = "<!-- end of the table -->\n"
)

var update = flag.Bool("update", false, "write the table of docs/SECURITY.md anew")

func TestTheDocumentHasTheTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/SECURITY.md has no place for the table, between %q and %q", begin, end)
	}
	want := before + begin + "\n" + Table() + "\n" + end + after
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Error("docs/SECURITY.md does not say what the tests cover; run make security-table and look at the difference")
	}
}

func TestEveryAttackIsTriedOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for i, a := range Attacks() {
		if a.Number != i+1 || a.Attempt == "" || a.Expected == "" {
			t.Errorf("row %d is number %d, %q, %q", i+1, a.Number, a.Attempt, a.Expected)
		}
		for backend, cell := range map[string]string{
			"docker": a.cell("docker", a.Docker, a.NoDocker), "wasm": a.cell("wasm", a.Wasm, a.NoWasm),
		} {
			if cell == "" {
				t.Errorf("nothing tries %d (%s) in %s, and nothing says why", a.Number, a.Attempt, backend)
			}
		}
		for _, test := range slices.Concat(a.Everywhere, a.Docker, a.Wasm) {
			if !exists(t, test) {
				t.Errorf("there is no test %s, of which %d speaks", test, a.Number)
			}
		}
	}
	for _, p := range Probes() {
		if p.Number < 1 || p.Number > len(Attacks()) || len(p.Reasons) == 0 {
			t.Errorf("probe %q has number %d and %d endings", p.Name, p.Number, len(p.Reasons))
		}
	}
}

// exists looks for a test, written "folder.TestName", in its folder's sources.
func exists(t *testing.T, test string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(test, ".")
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// archives are the files that may import a format of archives.
var archives = map[string]string{
	"skills/archive.go":         "unpacks what a caller uploads, within the bounds that its own tests hold it to",
	"orchestrator/web/files.go": "only packs",
}

// Whoever unpacks an archive of a script's has to bound what comes out first.
func TestNothingUnpacksArchives(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range parsed.Imports {
			if name, _ := strconv.Unquote(i.Path.Value); (strings.HasPrefix(name, "archive/") || strings.HasPrefix(name, "compress/")) && archives[within(path)] == "" {
				t.Errorf("%s imports %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// within is a path in the way it is written from the root of the project.
func within(path string) string {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(name)
}
