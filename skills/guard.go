package skills

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"airlock/pii/detect"
)

// guard finds what must not be kept in a skill, which other sessions read.
type guard struct {
	detector *detect.Detector
	tokens   *regexp.Regexp
}

// newGuard takes the standard detector if there is none.
func newGuard(d *detect.Detector) (*guard, error) {
	if d == nil {
		var err error
		if d, err = detect.New(detect.Options{}); err != nil {
			return nil, fmt.Errorf("detector for skills: %w", err)
		}
	}
	var types []string
	for _, t := range d.Types() {
		types = append(types, regexp.QuoteMeta(string(t.Type)))
	}
	// Tokens of any session: with brackets whatever their type, without them only
	// of a type that exists, since UTF_8_bytes has their shape too.
	form := `(?i)\[[A-Z][A-Z0-9_]*_[0-9]+_[a-z0-9]{5}\]`
	if len(types) > 0 {
		form += `|\b(?:` + strings.Join(types, "|") + `)_[0-9]+_[a-z0-9]{5}\b`
	}
	tokens, err := regexp.Compile(form)
	if err != nil {
		return nil, fmt.Errorf("tokens of the detector's types: %w", err)
	}
	return &guard{detector: d, tokens: tokens}, nil
}

// check refuses a bundle for the first value found, by file, line and type.
func (g *guard) check(b bundle) error {
	if err := g.checkText("", []byte(strings.Join(append(b.names(), b.entry), "\n"))); err != nil {
		return err
	}
	for _, name := range b.names() {
		if err := g.checkText(name, b.files[name]); err != nil {
			return err
		}
	}
	return nil
}

// nameFor is the name of an entry if it can be told, or else what to call it.
func (g *guard) nameFor(entry string) string {
	if !entryForm.MatchString(entry) || g.checkText("", []byte(entry)) != nil {
		return "(a file under /skills)"
	}
	return entry
}

func (g *guard) checkText(file string, data []byte) error {
	where := func(at int) int {
		if file == "" {
			return 0
		}
		return 1 + bytes.Count(data[:at], []byte("\n"))
	}
	if at := g.tokens.FindIndex(data); at != nil {
		return fault(file, where(at[0]), "holds a PII token, which means nothing in another session; take the value as an input")
	}
	spans, err := g.detector.Find(nil, data)
	if err != nil {
		return fault(file, 0, "could not be searched for personal data in time; make it shorter")
	}
	for _, s := range spans {
		return fault(file, where(s.Start), fmt.Sprintf("holds personal data or a secret (%s); take the value as an input", s.Type))
	}
	return nil
}
