package skills

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of the front matter. Those of name and description are the Agent Skills
// format's.
const (
	maxFrontMatter = 16 << 10
	maxDescription = 1024
	maxKeywords    = 100
	maxInputs      = 16
	maxEnum        = 32
	maxScript      = 4 << 10
)

// header is what the front matter of a SKILL.md says.
type header struct {
	name, description, version string
	nameLine                   int
	tools, keywords            []string
	inputs                     []declared
	// example and test are scripts in the skill's language.
	example, test string
}

// declared is an input as the front matter declares it.
type declared struct {
	name, description string
	kind              InputType
	enum              []string
	required          bool
}

var (
	// skillName is the form the Agent Skills format asks for.
	skillName   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	versionForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+-]{0,31}$`)
	toolForm    = regexp.MustCompile(`^[A-Za-z0-9_*.:()/-]{1,128}$`)
	inputForm   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,31}$`)
	yamlLine    = regexp.MustCompile(`line (\d+)`)
	// frontMatterEnd is a line of its own: "----" and "--- x" are text.
	frontMatterEnd = regexp.MustCompile(`\n---[ \t]*(\n|$)`)
)

// fields reads the fields of the front matter. Those read by skip are part of the
// format but nothing to us.
var fields = map[string]func(*header, *yaml.Node) error{
	"name":          func(h *header, n *yaml.Node) (err error) { h.name, err = text(n, 64); h.nameLine = n.Line; return },
	"description":   func(h *header, n *yaml.Node) (err error) { h.description, err = text(n, maxDescription); return },
	"version":       func(h *header, n *yaml.Node) (err error) { h.version, err = matching(n, versionForm); return },
	"allowed-tools": func(h *header, n *yaml.Node) (err error) { h.tools, err = list(n, 64, toolForm, " ,"); return },
	"keywords":      func(h *header, n *yaml.Node) (err error) { h.keywords, err = list(n, maxKeywords, nil, ","); return },
	"inputs":        readInputs,
	"dependencies":  func(_ *header, n *yaml.Node) error { _, err := list(n, 64, nil, ","); return err },
	"license":       func(_ *header, n *yaml.Node) error { _, err := text(n, 256); return err },
	"compatibility": func(_ *header, n *yaml.Node) error { _, err := text(n, 500); return err },
	"example":       func(h *header, n *yaml.Node) (err error) { h.example, err = script(n); return },
	"test":          func(h *header, n *yaml.Node) (err error) { h.test, err = script(n); return },
	"metadata":      readMetadata,
}

const knownFields = "name, description, version, license, compatibility, dependencies, allowed-tools, keywords, inputs, example, test, metadata"

// splitFrontMatter returns the lines between the two "---".
func splitFrontMatter(file string, data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		return nil, fault(file, 1, `the first line must be "---", with name and description below it`)
	}
	rest = append([]byte("\n"), rest...) // the line break that keeps the line numbers
	end := frontMatterEnd.FindIndex(rest)
	if end == nil {
		return nil, fault(file, 1, `the front matter has no end; close it with a line "---"`)
	}
	front := rest[:end[0]]
	switch {
	case len(bytes.TrimSpace(front)) == 0:
		return nil, fault(file, 2, "the front matter is empty; write name and description into it")
	case len(front) > maxFrontMatter:
		return nil, fault(file, 1, "the front matter is longer than 16 KiB; move text below it")
	}
	return front, nil
}

// parseFrontMatter reads the front matter of a SKILL.md.
func parseFrontMatter(file string, data []byte) (header, error) {
	var h header
	front, err := splitFrontMatter(file, data)
	if err != nil {
		return h, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		return h, fault(file, lineOf(err), `the front matter is not YAML; write "field: value" and put quotes around values with ":" or "#"`)
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return h, fault(file, 1, `the front matter must hold lines "field: value"`)
	}
	if err := h.read(doc.Content[0]); err != nil {
		err.File = file
		return h, err
	}
	switch {
	case h.name == "" && h.description == "":
		return h, fault(file, 1, "the front matter needs a name, and a description that says what the skill does and when to use it")
	case h.name == "":
		return h, fault(file, 1, "the front matter needs a name, the same as the folder's")
	case h.description == "":
		return h, fault(file, 1, "the front matter needs a description that says what the skill does and when to use it")
	}
	return h, nil
}

// checkFolderName holds the name to the Agent Skills format's rules.
func (h header) checkFolderName(file, folder string) error {
	problem := ""
	switch {
	case skillName.MatchString(h.name):
		if h.name == folder {
			return nil
		}
		problem = "name differs from the folder's name; they must be the same"
	case strings.ToLower(h.name) != h.name:
		problem = "name has capital letters; write it in lower case"
	case strings.HasPrefix(h.name, "-") || strings.HasSuffix(h.name, "-"):
		problem = "name begins or ends with a hyphen; leave that out"
	case strings.Contains(h.name, "--"):
		problem = "name has two hyphens in a row; keep one"
	default:
		problem = "name may hold lower-case letters a to z, digits and single hyphens only"
	}
	return fault(file, h.nameLine, problem)
}

func (h *header) read(m *yaml.Node) *Fault {
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		read := fields[key.Value]
		switch {
		case read == nil:
			return fault("", key.Line, "unknown field; known are "+knownFields)
		case seen[key.Value]:
			return fault("", key.Line, "the field "+key.Value+" is there twice; keep one")
		case hasAlias(value, 0):
			return fault("", key.Line, "anchors, aliases and deep nesting are not allowed; write the value out")
		}
		seen[key.Value] = true
		if err := read(h, value); err != nil {
			return fault("", value.Line, key.Value+" "+err.Error())
		}
	}
	return nil
}

func lineOf(err error) int {
	found := yamlLine.FindStringSubmatch(err.Error())
	if found == nil {
		return 1
	}
	n, _ := strconv.Atoi(found[1]) // it matched digits
	return n
}

func hasAlias(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || depth > 8 {
		return true
	}
	for _, c := range n.Content {
		if hasAlias(c, depth+1) {
			return true
		}
	}
	return false
}

// text reads a text of at most max characters, on one line.
func text(n *yaml.Node, max int) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", fmt.Errorf("must be a text")
	}
	s := strings.Join(strings.Fields(n.Value), " ")
	switch {
	case s == "":
		return "", fmt.Errorf("is empty; write a text")
	case utf8.RuneCountInString(s) > max:
		return "", fmt.Errorf("is longer than %d characters; shorten it", max)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return "", fmt.Errorf("holds a control or invisible character; remove it")
	}
	return s, nil
}

func matching(n *yaml.Node, form *regexp.Regexp) (string, error) {
	s, err := text(n, 128)
	if err == nil && !form.MatchString(s) {
		err = fmt.Errorf("has the wrong form; it must match %s", form)
	}
	return s, err
}

// list reads a YAML list of texts, or one text with separators.
func list(n *yaml.Node, max int, form *regexp.Regexp, separators string) ([]string, error) {
	var items []string
	switch n.Kind {
	case yaml.ScalarNode:
		split := func(r rune) bool { return strings.ContainsRune(separators, r) }
		for _, s := range strings.FieldsFunc(n.Value, split) {
			if s = strings.TrimSpace(s); s != "" {
				items = append(items, s)
			}
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			s, err := text(c, 128)
			if err != nil {
				return nil, fmt.Errorf("has an entry that %w", err)
			}
			items = append(items, s)
		}
	default:
		return nil, fmt.Errorf("must be a list")
	}
	if len(items) > max {
		return nil, fmt.Errorf("has more than %d entries; remove some", max)
	}
	for _, s := range items {
		if form != nil && !form.MatchString(s) {
			return nil, fmt.Errorf("has an entry of the wrong form; each must match %s", form)
		}
		if len(s) > 128 {
			return nil, fmt.Errorf("has an entry longer than 128 bytes; shorten it")
		}
	}
	return items, nil
}

// readInputs reads the declaration of inputs: a field per input, holding type,
// description and required.
func readInputs(h *header, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxInputs {
		return fmt.Errorf("must be at most %d lines \"name: {type, enum, description, required}\"", maxInputs)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		in := declared{name: n.Content[i].Value, kind: String}
		if !inputForm.MatchString(in.name) {
			return fmt.Errorf("has a name that is no identifier; it must match %s", inputForm)
		}
		if err := in.read(n.Content[i+1]); err != nil {
			return err
		}
		h.inputs = append(h.inputs, in)
	}
	return nil
}

func (in *declared) read(n *yaml.Node) (err error) {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("must give each input as {type, description, required}")
	}
	for i := 0; i+1 < len(n.Content) && err == nil; i += 2 {
		value := n.Content[i+1]
		switch n.Content[i].Value {
		case "type":
			in.kind = InputType(value.Value)
			if !inputTypes[in.kind] {
				err = fmt.Errorf("has an unknown type; known are %s", knownTypes)
			}
		case "description":
			in.description, err = text(value, 256)
		case "enum":
			in.enum, err = list(value, maxEnum, nil, ",")
		case "required":
			in.required = value.Value == "true"
			if value.Tag != "!!bool" {
				err = fmt.Errorf("has a \"required\" that is neither true nor false")
			}
		default:
			err = fmt.Errorf("has an input with an unknown field; known are type, enum, description, required")
		}
	}
	return err
}

var inputTypes = map[InputType]bool{String: true, Integer: true, Number: true, Boolean: true, Date: true, Month: true, File: true, Formula: true}

const knownTypes = "string, integer, number, boolean, date, month, file, formula"

// script reads code that shows or tests the skill.
func script(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "":
		return "", fmt.Errorf("must be a script; write it as a block after \"|\"")
	case len(n.Value) > maxScript:
		return "", fmt.Errorf("is longer than 4 KiB; keep it small")
	}
	return n.Value, nil
}

// readMetadata checks that it is a map from texts to texts; what is in it is for
// others.
func readMetadata(_ *header, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("must be lines \"key: text\"")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || seen[key.Value] {
			return fmt.Errorf("must give each key once, and a text for each")
		}
		seen[key.Value] = true
	}
	return nil
}
