package discovery

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func (r realTool) definition() Definition {
	return Definition{Name: r.Name, Title: r.Title, Description: r.Description, InputSchema: r.InputSchema, OutputSchema: r.OutputSchema}
}

// realDefinitions are the real tools by server.
func realDefinitions(tb testing.TB) map[string][]Definition {
	tb.Helper()
	all := map[string][]Definition{}
	for _, r := range realTools(tb) {
		server, _, _ := strings.Cut(r.full, separator)
		all[server] = append(all[server], r.definition())
	}
	return all
}

// checkPython fails unless all files are valid Python.
func checkPython(tb testing.TB, files map[string]string) {
	tb.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal("python3 is not installed")
		}
		tb.Skip("python3 is not installed")
	}
	dir, args := tb.TempDir(), []string{"-W", "error", "-m", "py_compile"}
	for name, text := range files {
		path := filepath.Join(dir, name+".py")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.Command(python, args...).CombinedOutput(); err != nil {
		tb.Errorf("%v\n%s", err, out)
	}
}

func TestStubsOfRealTools(t *testing.T) {
	t.Parallel()
	files, tools, renamed := map[string]string{}, 0, 0
	for server, definitions := range realDefinitions(t) {
		text := PythonStub(server, definitions)
		files[ModuleName(server)] = text
		if got := strings.Count(text, "\ndef ") - 1; got != len(definitions) {
			t.Errorf("%s: %d functions for %d tools", server, got, len(definitions))
		}
		script := TypeScriptStub(server, definitions)
		checkTypeScript(t, script)
		if got := strings.Count(script, "\ndeclare function callMCPTool("); got != len(definitions) {
			t.Errorf("%s: %d declarations for %d tools", server, got, len(definitions))
		}
		for _, d := range definitions {
			tools++
			if pythonName(d.Name) != d.Name {
				renamed++
			}
		}
		if dir := os.Getenv("AIRLOCK_STUBS"); dir != "" { // for looking at them, and for a real tsc
			for name, text := range map[string]string{".py": text, ".d.ts": script} {
				if err := os.WriteFile(filepath.Join(dir, ModuleName(server)+name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	checkPython(t, files)
	t.Logf("%d tools of %d servers, %d named otherwise in Python", tools, len(files), renamed)
}

func TestPythonStub(t *testing.T) {
	t.Parallel()
	got := PythonStub("my-shop", []Definition{{
		Name: "find-order", Description: "Finds orders.",
		InputSchema: []byte(`{"type":"object","properties":{
			"from":{"type":"string","description":"First day."},"max-rows":{"type":"integer"},
			"state":{"enum":["open","closed",null]},"tags":{"type":"array","items":{"type":"string"}}},"required":["from"]}`),
	}})
	want := `def find_order(*, from_: str, max_rows: int = ..., state: Literal["open", "closed", None] = ..., tags: list[str] = ..., **_others: Any) -> Any:
    """Finds orders.

    from_: First day.
    max_rows: as the schema says
    state: as the schema says
    tags: as the schema says"""
    return _call("my-shop__find-order", {"from": from_, "max-rows": max_rows, "state": state, "tags": tags}, _others)
`
	if _, function, _ := strings.Cut(got, "\n\n\ndef _call"); !strings.HasSuffix(function, want) {
		t.Errorf("got\n%s\nwant\n%s", function, want)
	}
	checkPython(t, map[string]string{"my_shop": got})
}

func TestPythonStubCallsTheTool(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; install it (apt-get install python3)")
	}
	text := PythonStub("s", []Definition{{Name: "list", InputSchema: []byte(`{"properties":{"a-b":{"type":"array"},"c":{}},"required":["a-b"]}`)}})
	program := "call_mcp_tool = lambda name, args: print(name, args)\n" + strings.Replace(text, "from __future__ import annotations", "", 1)
	program = "from __future__ import annotations\n" + program + "\nlist(a_b=[1], extra=None)\n"
	out, err := exec.Command(python, "-c", program).CombinedOutput()
	if want := "s__list {'a-b': [1], 'extra': None}\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

func TestStubsOfHostileDefinitions(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i, bad := range []string{`"""`, `""" + evil() + """`, `\`, `\"""`, `*/ evil() /*`, "\x00\u202e\u2028", `ends in "`, "\xff", "'''", `${x}`, "\nimport os\n"} {
		d := Definition{Name: bad, Title: bad, Description: bad,
			InputSchema: []byte(`{"properties":{` + quote(bad) + `:{"enum":[` + quote(bad) + `],"description":` + quote(bad) + `}}}`)}
		files[fmt.Sprintf("bad%d", i)] = PythonStub(bad, []Definition{d, d, {Name: bad + "_"}})
		checkTypeScript(t, TypeScriptStub(bad, []Definition{d}))
	}
	for name, text := range files {
		if strings.Contains(text, "\nimport os") || strings.Contains(text, "\nevil") {
			t.Errorf("%s: text became code:\n%s", name, text)
		}
	}
	checkPython(t, files)
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"get_sum": "get_sum", "get-sum": "get_sum_2", "get.sum": "get_sum_3",
		"from": "from_", "2fa": "_2fa", "日本": "tool__", "": "tool", "__init__": "tool__init__", "_call": "_call_",
	}
	for _, order := range [][]string{
		{"get_sum", "get-sum", "get.sum", "from", "2fa", "日本", "", "__init__", "_call"},
		{"_call", "__init__", "", "日本", "2fa", "from", "get.sum", "get-sum", "get_sum"},
	} {
		got := UniqueNames(order)
		for name, id := range want {
			if got[name] != id {
				t.Errorf("%q is named %q, want %q", name, got[name], id)
			}
		}
	}
}
