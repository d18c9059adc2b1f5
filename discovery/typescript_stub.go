package discovery

import (
	"slices"
	"strings"
)

// TypeScriptStub is the text of /tools/<server>.d.ts: for each tool, by name, its
// description and the declaration that Signature makes. Tools are named by strings,
// so that no name is impossible. Its input was tokenized.
func TypeScriptStub(server string, tools []Definition) string {
	var b strings.Builder
	b.WriteString("// The tools of " + quote(oneLine(server)) + ", made from their definitions. Call them by callMCPTool.\n")
	for _, d := range byName(tools) {
		b.WriteByte('\n')
		if text := about(d); text != "" {
			b.WriteString("/**\n * " + strings.ReplaceAll(strings.ReplaceAll(harmless(text), "\n", "\n * "), " * \n", " *\n") + "\n */\n")
		}
		b.WriteString(signature(server+separator+d.Name, d.InputSchema, d.OutputSchema, d.Observed))
		b.WriteByte('\n')
	}
	return b.String()
}

// byName sorts tools and drops repetitions of a name.
func byName(tools []Definition) []Definition {
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(sorted, func(a, b Definition) bool { return a.Name == b.Name })
}

// about is what a stub says of a tool, or nothing.
func about(d Definition) string {
	text := CleanDescription(d.Description)
	if text == "" {
		text = CleanDescription(d.Title)
	}
	return text
}

func oneLine(text string) string { return prose(CleanDescription(text), maxDescription) }
