package detect

import "bytes"

// minSecret is the shortest key that is known by its prefix alone.
const minSecret = 16

// keyForm is a kind of API key: prefix and what follows, as its issuer documents it.
type keyForm struct {
	prefix   string
	min, max int    // characters after the prefix
	also     string // characters beside letters and digits
}

// keyForms by issuer: Amazon, GitHub, GitLab, OpenAI and Anthropic, Stripe, Slack,
// Google, npm, Hugging Face, DigitalOcean, Shopify, PyPI, SendGrid, Twilio, Linear,
// Databricks, Groq, Perplexity, Square, Telegram apart.
var keyForms = []keyForm{
	{"AKIA", 16, 16, ""}, {"ASIA", 16, 16, ""},
	{"ghp_", 36, 255, ""}, {"gho_", 36, 255, ""}, {"ghu_", 36, 255, ""}, {"ghs_", 36, 255, ""}, {"ghr_", 36, 255, ""},
	{"github_pat_", 22, 255, "_"},
	{"glpat-", 20, 64, "-_"}, {"gldt-", 20, 64, "-_"},
	{"sk-", 20, 255, "-_"},
	{"sk_live_", 16, 255, ""}, {"sk_test_", 16, 255, ""}, {"rk_live_", 16, 255, ""}, {"rk_test_", 16, 255, ""}, {"pk_live_", 16, 255, ""}, {"whsec_", 24, 255, ""},
	{"xoxb-", 20, 255, "-"}, {"xoxp-", 20, 255, "-"}, {"xoxa-", 20, 255, "-"}, {"xoxr-", 20, 255, "-"}, {"xoxs-", 20, 255, "-"}, {"xapp-", 20, 255, "-"},
	{"AIza", 35, 35, "-_"}, {"GOCSPX-", 28, 28, "-_"},
	{"npm_", 36, 36, ""}, {"hf_", 30, 64, ""}, {"dop_v1_", 64, 64, ""}, {"pypi-", 60, 255, "-_"},
	{"shpat_", 32, 32, ""}, {"shpss_", 32, 32, ""}, {"shpca_", 32, 32, ""},
	{"lin_api_", 40, 40, ""}, {"gsk_", 40, 80, ""}, {"pplx-", 40, 80, ""}, {"dapi", 32, 34, "-"}, {"sq0atp-", 22, 64, "-_"}, {"EAAA", 60, 64, "-_"},
}

// apiKey finds a key by its issuer's prefix, or a JWT, in the word start:end.
func (s *scanner) apiKey(start, end int) int {
	if !s.on.has(secret) {
		return 0
	}
	b := s.b
	if p := s.byteAt(start - 1); p == '-' || p == '.' {
		return 0 // the middle of something longer
	}
	if hasPrefix(b, start, "eyJ") {
		return s.jwt(start)
	}
	for i := range keyForms {
		if f := &keyForms[i]; f.prefix[0] == b[start] && hasPrefix(b, start, f.prefix) {
			if e := f.end(b, start); e > 0 {
				s.floor = max(s.floor, e)
				return s.add(start, e, secret)
			}
		}
	}
	return 0
}

// end is the end of a key of this form at start, 0 if there is none.
func (f *keyForm) end(b []byte, start int) int {
	i := start + len(f.prefix)
	from := i
	for i < len(b) && i-from <= f.max && (class[b[i]]&(digit|letter) != 0 || bytes.IndexByte([]byte(f.also), b[i]) >= 0) {
		i++
	}
	if n := i - from; n < f.min || n > f.max || countDigits(b[from:i]) == 0 || i < len(b) && isWord(b[i]) {
		return 0
	}
	return i
}

// maxJWT bounds how long a signed token is read.
const maxJWT = 8192

// jwt finds three parts of base64url with dots, the first a JSON object (RFC 7519).
func (s *scanner) jwt(start int) int {
	i, dots := start, 0
	for i < len(s.b) && i-start < maxJWT {
		c := s.b[i]
		if c == '.' {
			if dots++; dots > 4 || !isWord(s.byteAt(i+1)) && s.byteAt(i+1) != '-' {
				break
			}
		} else if class[c] == 0 && c != '-' {
			break
		}
		i++
	}
	if dots < 2 || i-start < 30 {
		return 0
	}
	s.floor = max(s.floor, i)
	return s.add(start, i, secret)
}

// dash handles a '-': key prefixes that end in one, PEM private keys, and hardware
// addresses that happen to have no digit.
func (s *scanner) dash(i int) int {
	b := s.b
	if i+1 < len(b) && b[i+1] == '-' {
		return s.dashes(i)
	}
	if i < 2 || i+1 >= len(b) || !isWord(b[i-1]) || i < s.floor {
		return i + 1
	}
	if isHex(b[i-2]) && isHex(b[i-1]) && !isLetterOrDigit(s.byteAt(i-3)) {
		if e := s.macDashes(i - 2); e > 0 {
			return e
		}
	}
	start := i
	for start > s.floor && i-start < 6 && class[b[start-1]] != 0 {
		start--
	}
	if start > 0 && isWord(b[start-1]) {
		return i + 1
	}
	switch b[i-1] {
	case 'k', 't', 'b', 'p', 'a', 'r', 's', 'i', 'x', 'X':
		if e := s.apiKey(start, i); e > 0 {
			return e
		}
	}
	return i + 1
}

// maxPEM bounds how long a private key is read; RSA with 16384 bits takes 12,800.
const maxPEM = 16 << 10

// dashes skips a run of dashes, or reports the private key it opens.
func (s *scanner) dashes(i int) int {
	end := i
	for end < len(s.b) && s.b[end] == '-' {
		end++
	}
	if !hasPrefix(s.b, end, "BEGIN ") || !s.on.has(secret) {
		return end
	}
	head := s.b[end:min(len(s.b), end+48)]
	if bytes.Contains(head, []byte("PRIVATE KEY")) {
		body := s.b[end:min(len(s.b), end+maxPEM)]
		stop := len(head)
		if j := bytes.Index(body, []byte("-----END")); j >= 0 {
			if k := bytes.Index(body[j+5:], []byte("-----")); k >= 0 && k < 48 {
				stop = j + k + 10
			}
		}
		s.floor = max(s.floor, end+stop)
		return s.add(max(i, end-5), end+min(stop, len(body)), secret)
	}
	return end
}

// userinfo reports the password in scheme://user:password@host, whose address is
// no e-mail address.
func (s *scanner) userinfo(start, at int) bool {
	if s.byteAt(start-1) != ':' || start < 4 {
		return false
	}
	from := max(0, start-80)
	for i := start - 2; i > from; i-- {
		switch c := s.b[i]; {
		case c == '/' && s.b[i-1] == '/':
			if s.on.has(secret) && !touchesToken(s.b, start, at) {
				s.add(start, at, secret)
			}
			return true
		case class[c] == 0 && c != '.' && c != '-' && c != '%':
			return false
		}
	}
	return false
}

// secretValue reports the value of a key such as api_key or password.
func (s *scanner) secretValue(start, end int, all label) {
	v := s.b[start:end]
	if !s.on.has(secret) || all&lPassword == 0 && (all&lSecret == 0 || all&lAPI == 0) || all&lPage != 0 {
		return
	}
	if all&lPassword == 0 {
		if i := bytes.IndexByte(v, ' '); i > 0 && i < 8 { // Bearer, Basic, token
			start, v = start+i+1, v[i+1:]
		}
	}
	if !secretShape(v, all&lPassword != 0) || touchesToken(s.b, start, end) {
		return
	}
	s.add(start, end, secret)
}

// secretShape tells keys and passwords from words and templates.
func secretShape(v []byte, password bool) bool {
	c := classesOf(v)
	if password {
		return len(v) >= 6 && len(v) <= 128 && (c&digit != 0 || c&(upper|lower) == upper|lower || !allWord(v)) && !template(v)
	}
	return len(v) >= minSecret && len(v) <= 4096 && c&digit != 0 && c&letter != 0 && !template(v)
}

func allWord(v []byte) bool { return wordEnd(v, 0) == len(v) }

// template reports what stands for a secret, and what cannot be one.
func template(v []byte) bool {
	return bytes.ContainsAny(v, " \t\\\"'<>{}()$*[]") || bytes.Contains(v, []byte("://"))
}
