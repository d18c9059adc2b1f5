package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
	"unicode"
)

// maxCleanDescription is the longest description that is shown, in bytes: about
// 1,000 tokens of a model. Of 913 real ones, 5 are longer.
const maxCleanDescription = 4 << 10

// CleanDescription makes a tool's description fit to be shown to a model or a
// person: it removes what can be hidden in text (controls, zero-width and
// direction marks, tags, variation selectors, private-use characters), keeps at
// most two line breaks together, and cuts the end of what is too long, saying so.
// It does not judge what the text says: it stays somebody else's words.
func CleanDescription(text string) string {
	var b strings.Builder
	breaks := 0
	for _, r := range strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD") {
		switch {
		case r == '\n' || r == '\u2028' || r == '\u2029':
			if breaks++; breaks <= 2 {
				b.WriteByte('\n')
			}
			continue
		case r == '\t':
			r = ' '
		case isHidden(r):
			continue
		}
		if !unicode.IsSpace(r) {
			breaks = 0
		}
		b.WriteRune(r)
	}
	clean := strings.TrimSpace(b.String())
	if len(clean) <= maxCleanDescription {
		return clean
	}
	const rest = " … (cut)"
	return strings.TrimSpace(head(clean, maxCleanDescription-len(rest))) + rest
}

// isHidden tells characters that no reader sees.
func isHidden(r rune) bool {
	switch {
	case r < 0x7F: // most are, and the tables below are slow
		return r < ' '
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true // Cf: zero-width, bidirectional, tag characters, soft hyphens
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true // variation selectors, which can carry any bytes
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x034F, r == 0x2800:
		return true // fillers, joiners and blanks that show nothing
	}
	return false
}

// Definition is one tool as a stub or a fingerprint sees it. Name is without the
// server's. Observed is what Shape.TypeScript says of its results, if it has no
// output schema and some were seen; a stub tells it, a fingerprint leaves it out.
type Definition struct {
	Name, Title, Description  string
	InputSchema, OutputSchema []byte
	Observed                  string
}

// Fingerprint changes when anything of a definition does that a model would read;
// white space between the parts of a schema does not count. It is made of the
// texts as the server sent them, since tokens differ from session to session.
func Fingerprint(d Definition) string {
	sum := sha256.New()
	for _, text := range []string{d.Name, d.Title, d.Description} {
		addPart(sum, []byte(text))
	}
	for _, schema := range [][]byte{d.InputSchema, d.OutputSchema} {
		var compacted bytes.Buffer
		if json.Compact(&compacted, schema) == nil {
			schema = compacted.Bytes()
		}
		addPart(sum, schema)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// addPart hashes the length first, so that no text moves from one part to the next
// unseen.
func addPart(sum hash.Hash, part []byte) {
	_, _ = fmt.Fprintf(sum, "%d:", len(part)) // a hash takes everything
	_, _ = sum.Write(part)
}
