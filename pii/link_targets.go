package pii

// target is what stands in the parentheses of a link. They may be nested. Escaped
// ones open but do not close, since not all who read markdown know escapes.
type target struct {
	open   bool
	begin  opening
	depth  int
	angle  bool // in <>
	quote  byte // in a title
	escape bool
	fresh  bool // a title may begin
}

func (t *target) step(c byte) {
	start := t.begin.n == 0
	t.begin.add(c)
	fresh := t.fresh
	t.fresh = isSpace(c)
	switch {
	case t.escape:
		t.escape = false
		if c == '(' && t.quote == 0 && !t.angle {
			t.depth++
		}
	case c == '\\':
		t.escape = true
	case t.angle:
		t.angle = c != '>'
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
	case c == '<' && start:
		t.angle = true
	case fresh && (c == '"' || c == '\''):
		t.quote = c
	case c == '(':
		t.depth++
	case c == ')' && t.depth > 0:
		t.depth--
	case c == ')':
		*t = target{}
	}
}

// opening is how an address begins, as far as it matters for mailto: and tel:.
type opening struct {
	text [len("mailto:") + 1]byte
	n    int
}

func (o *opening) add(c byte) {
	if o.n == len(o.text) || o.n == 0 && (isSpace(c) || c == '<') {
		return
	}
	o.text[o.n] = lower(c)
	o.n++
}

func (o *opening) personal() bool { return isPersonal(string(o.text[:o.n])) }

// isPersonal reports whether s is an address up to where a value belongs.
func isPersonal(s string) bool { return s == "mailto:" || s == "tel:" || s == "tel:+" }
