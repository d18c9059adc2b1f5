// Package docstring finds what a source file says of one of its functions: its
// signature and the comment or docstring that belongs to it, in Python, JavaScript
// and TypeScript, the declarations in /tools included.
//
// It reads text and runs nothing. A file that it cannot make sense of gives fewer
// names or a shorter text, never an error. Start with Find.
package docstring

import (
	"path"
	"regexp"
	"strings"
)

// maxSignature bounds a signature, in bytes.
const maxSignature = 4 << 10

// Find returns the signature and description of a function, class or tool of a
// source file. The file's name tells its language.
func Find(file, source, name string) (text string, ok bool) {
	if !word.MatchString(name) {
		return "", false
	}
	if path.Ext(file) == ".py" {
		return python(source, name)
	}
	return script(source, name)
}

// Names lists the functions that a file defines, in their order, at most max.
func Names(file, source string, max int) []string {
	all := scriptNames
	if path.Ext(file) == ".py" {
		all = pythonNames
	}
	var names []string
	for _, m := range all.FindAllStringSubmatch(source, -1) {
		name := strings.Join(m[1:], "") // one of the alternatives
		if len(names) < max && !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	return names
}

var (
	word        = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$-]*$`)
	pythonNames = regexp.MustCompile(`(?m)^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)`)
	scriptNames = regexp.MustCompile(`(?m)^(?:declare[ \t]+)?(?:function[ \t]+)?callMCPTool\("([^"]+)"` +
		`|^(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:async[ \t]+)?function\*?[ \t]+([\w$]+)` +
		`|^(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)[ \t]*=[ \t]*(?:async\b|function\b|\()` +
		`|^(?:module\.)?exports\.([\w$]+)[ \t]*=`)
)

// python finds a def or class and the string that it begins with.
func python(source, name string) (string, bool) {
	head := regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+` + regexp.QuoteMeta(name) + `\b`)
	at := head.FindStringIndex(source)
	if at == nil {
		return "", false
	}
	end := at[1] + pythonColon(source[at[1]:])
	signature := strings.TrimSpace(source[at[0]:end])
	return join(signature, firstString(source[end:])), true
}

// pythonColon is the length of a definition's head: up to its colon outside of all
// brackets and strings.
func pythonColon(text string) int {
	depth := 0
	for i := 0; i < len(text) && i < maxSignature; i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '\'':
			if n := strings.IndexByte(text[i+1:], c); n >= 0 {
				i += n + 1
			}
		case ':':
			if depth == 0 {
				return i + 1
			}
		}
	}
	return min(len(text), maxSignature)
}

var docstring = regexp.MustCompile(`(?s)^(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*[rRuU]?(?:"""(.*?)"""|'''(.*?)'''|"([^"\n]*)"|'([^'\n]*)')`)

func firstString(body string) string {
	m := docstring.FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	return dedent(m[1] + m[2] + m[3] + m[4])
}

// script finds a function of JavaScript or TypeScript and the comment before it. A
// tool's declaration is found by the tool's name with or without its server.
func script(source, name string) (string, bool) {
	n := regexp.QuoteMeta(name)
	head := regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:async[ \t]+)?function\*?[ \t]+` + n + `[ \t]*[(<]` +
		`|^[ \t]*(?:export[ \t]+)?(?:const|let|var|class)[ \t]+` + n + `[\s:={]` +
		`|^[ \t]*(?:static[ \t]+)?(?:async[ \t]+)?` + n + `[ \t]*(?:\([^\n;]*\)[ \t]*\{|:|=[ \t]*(?:async\b|function\b|\())` +
		`|^[ \t]*(?:module\.)?exports\.` + n + `[ \t]*=` +
		`|^[^\n"]*\("(?:[\w.-]+__)?` + n + `"`)
	at := head.FindStringIndex(source)
	if at == nil {
		return "", false
	}
	rest := source[at[0]:]
	signature := strings.TrimSpace(rest[:scriptHead(rest)])
	return join(signature, commentBefore(source[:at[0]])), true
}

// scriptHead is the length of a declaration up to its body, or to its end where it
// has none.
func scriptHead(text string) int {
	depth := 0
	for i := 0; i < len(text) && i < maxSignature; i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '{':
			if depth == 0 && !strings.HasSuffix(strings.TrimRight(text[:i], " \t"), ":") && !strings.HasSuffix(strings.TrimRight(text[:i], " \t"), "<") {
				return i
			}
			depth++
		case '}':
			depth--
		case ';', '\n':
			if depth <= 0 {
				return i
			}
		}
	}
	return min(len(text), maxSignature)
}

// commentBefore is the comment that ends right before a declaration.
func commentBefore(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if body, ok := strings.CutSuffix(text, "*/"); ok {
		_, body, ok = cutLast(body, "/*")
		if !ok {
			return ""
		}
		return unmark(body, "*")
	}
	lines := strings.Split(text, "\n")
	first := len(lines)
	for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "//") {
		first--
	}
	return unmark(strings.Join(lines[first:], "\n"), "/")
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// unmark takes a comment's marks off its lines.
func unmark(body, mark string) string {
	var lines []string
	for line := range strings.Lines(body) {
		line = strings.TrimLeft(strings.TrimSpace(line), mark)
		lines = append(lines, strings.TrimPrefix(line, " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// dedent takes off the white space that all lines but the first begin with.
func dedent(text string) string {
	lines := strings.Split(text, "\n")
	margin := -1
	for _, line := range lines[1:] {
		if trimmed := strings.TrimLeft(line, " \t"); trimmed != "" && (margin < 0 || len(line)-len(trimmed) < margin) {
			margin = len(line) - len(trimmed)
		}
	}
	for i, line := range lines[1:] {
		lines[i+1] = line[min(max(margin, 0), len(line)):]
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func join(signature, about string) string {
	if about == "" {
		return signature
	}
	return signature + "\n\n" + about
}
