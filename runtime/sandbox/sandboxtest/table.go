package sandboxtest

import (
	"fmt"
	"slices"
	"strings"

	"airlock/runtime/sandbox"
)

// languages are what each backend's scripts are written in; a backend that says
// otherwise fails the suite.
var languages = map[string][]sandbox.Language{
	"docker": {sandbox.JavaScript, sandbox.TypeScript, sandbox.Python, sandbox.Bash},
	"wasm":   {sandbox.JavaScript, sandbox.TypeScript},
}

// Table is the table of docs/SECURITY.md: for each attack and backend the probes
// that the suite runs, the tests beside it, or why there is nothing to try.
func Table() string {
	var b strings.Builder
	b.WriteString("| # | attempt | must happen | docker | wasm |\n|---|---|---|---|---|\n")
	for _, a := range Attacks() {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", a.Number, a.Attempt, a.Expected,
			a.cell("docker", a.Docker, a.NoDocker), a.cell("wasm", a.Wasm, a.NoWasm))
	}
	return b.String()
}

// cell is what is done about an attack in one backend; "" if nothing is.
func (a Attack) cell(backend string, tests []string, reason string) string {
	var parts []string
	if probed := a.probes(backend); probed != "" {
		parts = append(parts, probed)
	}
	if reason != "" {
		parts = append(parts, reason)
	}
	for _, test := range slices.Concat(a.Everywhere, tests) {
		folder, name, _ := strings.Cut(test, ".")
		parts = append(parts, "`"+name+"` in `"+folder+"/`")
	}
	return strings.Join(parts, "<br>")
}

// probes lists the probes of an attack that a backend runs, by language.
func (a Attack) probes(backend string) string {
	names := map[sandbox.Language][]string{}
	for _, p := range Probes() {
		if p.Number == a.Number && slices.Contains(languages[backend], p.Language) {
			names[p.Language] = append(names[p.Language], p.Name)
		}
	}
	var parts []string
	for _, language := range languages[backend] {
		if len(names[language]) > 0 {
			parts = append(parts, string(language)+": "+strings.Join(names[language], "; "))
		}
	}
	return strings.Join(parts, "<br>")
}
