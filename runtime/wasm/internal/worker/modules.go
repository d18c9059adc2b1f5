package worker

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode"

	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/script"
)

// modules finds the ES modules that scripts import: files of the sandbox. A
// CommonJS file, and a name that is no path, goes through the prelude's require.
type modules struct{ g *guest }

// bare marks the names of modules that are not files.
const bare = "require:"

// Resolve makes an absolute path of a specifier. The script itself counts as a
// file of /workspace.
func (m modules) Resolve(base, specifier string) (string, error) {
	switch {
	case strings.HasPrefix(specifier, "/"):
		return path.Clean(specifier), nil
	case strings.HasPrefix(specifier, "./"), strings.HasPrefix(specifier, "../"):
		dir := "/workspace"
		if strings.HasPrefix(base, "/") {
			dir = path.Dir(base)
		}
		return path.Join(dir, specifier), nil
	default:
		return bare + specifier, nil
	}
}

// Load returns a module's source.
func (m modules) Load(vm *quickjs.VM, name string) (string, error) {
	if specifier, ok := strings.CutPrefix(name, bare); ok {
		return m.commonJS(vm, specifier)
	}
	if strings.HasSuffix(name, ".json") {
		return m.commonJS(vm, name)
	}
	data, err := m.g.askFile("read", name, nil)
	if err != nil {
		return "", err
	}
	code := string(data)
	if strings.HasSuffix(name, ".ts") {
		if code, err = script.StripTypes(code, name); err != nil {
			return "", fmt.Errorf("SyntaxError in %s at %w", name, err)
		}
	}
	if strings.HasSuffix(name, ".mjs") || script.IsModule(code) {
		return code, nil
	}
	return m.commonJS(vm, name)
}

// commonJS writes an ES module that exports what require returns: as default, and
// its properties by their names.
func (m modules) commonJS(vm *quickjs.VM, name string) (string, error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return "", err
	}
	file, err := vm.String("")
	if err != nil {
		return "", err
	}
	defer vm.Free(file)
	specifier, err := vm.String(name)
	if err != nil {
		return "", err
	}
	defer vm.Free(specifier)
	module, err := vm.Call(m.g.require, file, specifier)
	if err != nil {
		return "", err
	}
	defer vm.Free(module)
	list, err := vm.Call(m.g.keysOf, module)
	if err != nil {
		return "", err
	}
	defer vm.Free(list)
	text, _, err := vm.Text(list, 1<<20)
	if err != nil {
		return "", err
	}
	var keys []string
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		return "", fmt.Errorf("list what %s exports: %w", name, err)
	}
	return exports(string(quoted), keys), nil
}

func exports(quoted string, keys []string) string {
	var b strings.Builder
	b.WriteString("const m=require(" + quoted + ");export default m;")
	for i, key := range keys {
		if key != "default" && isIdentifier(key) {
			fmt.Fprintf(&b, "const k%d=m.%s;export{k%d as %s};", i, key, i, key)
		}
	}
	return b.String()
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
