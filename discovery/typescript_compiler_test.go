package discovery

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// typeScriptCompiler is the command line of the tsc that "make deps" installs.
func typeScriptCompiler(tb testing.TB) []string {
	tb.Helper()
	node, err := exec.LookPath("node")
	missing := "node is not installed"
	if err == nil {
		var script string
		if script, err = filepath.Abs(filepath.Join("..", "test", "npm", "node_modules", "typescript", "bin", "tsc")); err == nil {
			if _, err = os.Stat(script); err == nil {
				return []string{node, script}
			}
		}
		missing = "the TypeScript compiler is not installed; run make deps"
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal(missing)
	}
	tb.Skip(missing)
	return nil
}

// compileTypeScript fails unless tsc takes all files together under --strict.
func compileTypeScript(tb testing.TB, files map[string]string) {
	tb.Helper()
	command := typeScriptCompiler(tb)
	dir := tb.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	args := append(command[1:], "--strict", "--noEmit", "--lib", "es2024", "--target", "es2024")
	for name := range files {
		args = append(args, name)
	}
	run := exec.CommandContext(context.WithoutCancel(tb.Context()), command[0], args...)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		tb.Errorf("tsc: %v\n%.4000s", err, out)
	}
}

// All declarations stand in one program, as an editor would load them, and a
// script that calls a tool is checked against its own.
func TestRealToolsCompileAsTypeScript(t *testing.T) {
	t.Parallel()
	files, tools := map[string]string{}, 0
	for server, definitions := range realDefinitions(t) {
		files[server+".d.ts"] = TypeScriptStub(server, definitions)
		tools += len(definitions)
	}
	files["right.ts"] = `
async function check() {
  await callMCPTool("google-maps__maps_geocode", { address: "Karlsplatz 1" });
  await callMCPTool("everything__get-sum", { a: 1, b: 2 });
  // @ts-expect-error a parameter is missing
  await callMCPTool("everything__get-sum", { a: 1 });
  // @ts-expect-error a parameter has another type
  await callMCPTool("google-maps__maps_geocode", { address: 1 });
  // @ts-expect-error there is no such tool
  await callMCPTool("google-maps__maps_teleport", {});
}
check();
`
	compileTypeScript(t, files)
	if tools != 913 {
		t.Errorf("%d tools were compiled, the data has 913", tools)
	}
}

// What is learnt from results compiles too, whatever the results.
func TestObservedTypesCompile(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i, result := range []string{
		`{"a":[{"b":1},{"c":null}],"x y":{"2024-01-01":[true,"s"]}}`, `[[],[[1]],{}]`, `"s"`, `null`, `{}`, `{"constructor":1,"__proto__":2,"*/":3}`,
	} {
		fmt.Fprintln(&text, ObservedSignature(fmt.Sprintf("s__t%d", i), []byte(`{"type":"object"}`), ObservedShape([]byte(result))))
	}
	compileTypeScript(t, map[string]string{"observed.d.ts": text.String()})
}

// Names that no identifier can be, and those that several servers use, lead to a
// declaration and a function of their own.
func TestRealNamesStayApart(t *testing.T) {
	t.Parallel()
	odd, signatures, servers := 0, map[string]bool{}, map[string]int{}
	for server, definitions := range realDefinitions(t) {
		functions := map[string]bool{}
		var names []string
		for _, d := range definitions {
			names = append(names, d.Name)
			servers[d.Name]++
			if !identifier.MatchString(d.Name) {
				odd++
			}
			call, _, _ := strings.Cut(Signature(server+separator+d.Name, d.InputSchema, d.OutputSchema), ", args")
			if signatures[call] {
				t.Errorf("two tools are declared as %s", call)
			}
			signatures[call] = true
		}
		for name, function := range UniqueNames(names) {
			if functions[function] || pythonName(function) != function {
				t.Errorf("%s of %s became the function %s", name, server, function)
			}
			functions[function] = true
		}
	}
	shared := 0
	for _, n := range servers {
		if n > 1 {
			shared++
		}
	}
	if odd != 112 || shared != 10 {
		t.Errorf("%d names are no identifiers and %d are used by several servers; the data has 112 and 10", odd, shared)
	}
}
