package pii_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"airlock/pii"
	"airlock/pii/reveal"
)

// mayReveal are the packages that read personal data in clear, and why.
var mayReveal = map[string]string{
	"bridge":           "hands values to tools",
	"orchestrator/api": "hands values to their user",
}

// TestWhoMayReveal holds the list of importers of pii/reveal. Whoever adds to it
// adds a place to review.
func TestWhoMayReveal(t *testing.T) {
	t.Parallel()
	seen := 0
	eachFile(t, "..", func(name string, file *ast.File) {
		seen++
		folder := filepath.ToSlash(filepath.Dir(name))
		if folder == "pii" && strings.HasSuffix(name, "_test.go") {
			return
		}
		if mayReveal[folder] == "" && imports(file, "airlock/pii/reveal") {
			t.Errorf("%s imports pii/reveal: personal data may be read in clear by %v only", name, mayReveal)
		}
	})
	if seen < 10 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// eachFile parses the imports of every Go file of the module.
func eachFile(t *testing.T, root string, visit func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		visit(name, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(path) })
}

const secret = "ada@example.org"

func TestRawDoesNotPrint(t *testing.T) {
	t.Parallel()
	raw := pii.NewRaw(secret)
	type holder struct {
		Shown  pii.Raw
		hidden pii.Raw
		Ptr    *pii.Raw
		List   []pii.Raw
		Map    map[string]pii.Raw
		Any    any
	}
	h := holder{raw, raw, &raw, []pii.Raw{raw}, map[string]pii.Raw{"k": raw}, raw}
	if reveal.Text(h.hidden) != secret {
		t.Fatal("the holder is empty: the test would pass on anything")
	}
	for _, value := range []any{raw, &raw, h, &h, []any{raw}, h.Map, fmt.Errorf("wrapped %v", raw)} {
		for _, verb := range "vsqxXdtbocUeEfFgGpTw" {
			for _, flag := range []string{"", "+", "#", " ", "-40", "40.30", "0"} {
				format := "%" + flag + string(verb)
				checkHidden(t, format, fmt.Sprintf(format, value))
			}
		}
	}
}

func checkHidden(t *testing.T, how, got string) {
	t.Helper()
	for _, form := range []string{secret, "616461", "97 100 97", "ada", "YWRh"} {
		if strings.Contains(got, form) {
			t.Errorf("%s shows %q in %q", how, form, got)
		}
	}
}

func TestRawDoesNotMarshal(t *testing.T) {
	t.Parallel()
	raw := pii.NewRaw(secret)
	for _, value := range []any{raw, &raw, map[string]any{"k": raw}, []pii.Raw{raw}, struct{ R pii.Raw }{raw}, map[pii.Raw]int{raw: 1}} {
		out, err := json.Marshal(value)
		if err == nil {
			t.Errorf("%T marshalled to %s", value, out)
		}
		checkHidden(t, "json", string(out)+fmt.Sprint(err))
	}
}

func TestRawDoesNotReachALog(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zapcore.DebugLevel)
	raw := pii.NewRaw(secret)
	log := zap.New(core)
	log.Info("any", zap.Any("raw", raw), zap.Any("ptr", &raw), zap.Any("list", []pii.Raw{raw}))
	log.Info("reflect", zap.Reflect("raw", raw), zap.Reflect("in", struct{ R pii.Raw }{raw}))
	log.Sugar().Infow("sugar", "raw", raw, "map", map[string]any{"k": raw})
	log.Sugar().Infof("%v %+v %#v %s", raw, raw, raw, raw)
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	console := zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig())
	if logs.Len() != 4 {
		t.Fatalf("%d lines were logged", logs.Len())
	}
	for _, line := range logs.All() {
		for _, e := range []zapcore.Encoder{encoder, console} {
			out, err := e.Clone().EncodeEntry(line.Entry, line.Context)
			if err != nil {
				continue // it refused, which is as good
			}
			checkHidden(t, line.Message, out.String())
		}
	}
}

// TestOnlyConstantsAreStatic compiles what code outside of the package may try.
func TestOnlyConstantsAreStatic(t *testing.T) {
	t.Parallel()
	for snippet, compiles := range map[string]bool{
		`var T = pii.Static("a constant")`:                                              true,
		`const c = "a constant"; var T = pii.Static(c + "!")`:                           true,
		`var s = "text"; var T = pii.Static(s)`:                                         false,
		`const c string = "typed"; var T = pii.Static(c)`:                               false,
		`func f(s string) pii.Tokenized { return pii.Static(s) }`:                       false,
		`func f(s string) pii.Tokenized { return pii.Static("a" + s) }`:                 false,
		`func f(s string) pii.Tokenized { return pii.Tokenized{s} }`:                    false,
		`func f(s string) pii.Tokenized { return pii.Tokenized(s) }`:                    false,
		`func f(s string) (t pii.Tokenized) { t.text = s; return }`:                     false,
		`func f(r pii.Raw) string { return *r.text }`:                                   false,
		`func f(r pii.Raw) pii.Tokenized { return pii.Tokenized(r) }`:                   false,
		`type constant string; func f(s string) any { return pii.Static(constant(s)) }`: false,
	} {
		err := compile("package outside\nimport \"airlock/pii\"\n" + snippet)
		if (err == nil) != compiles {
			t.Errorf("%s: %v", snippet, err)
		}
	}
}

// source imports packages of this module from their source, once for all.
var source = importer.ForCompiler(token.NewFileSet(), "source", nil)

func compile(src string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "outside.go", src, 0)
	if err != nil {
		return err
	}
	_, err = (&types.Config{Importer: source}).Check("outside", fset, []*ast.File{file}, nil)
	return err
}
