package discovery

import (
	"bytes"
	"encoding/json"
	"strings"
)

// CleanSchema removes from the strings of a JSON Schema the characters that no
// reader sees, as CleanDescription does. All else stays byte for byte, and so does
// what is no JSON.
func CleanSchema(schema []byte) []byte {
	if !mayHide(schema) {
		return schema
	}
	var b bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	kept, before := 0, 0 // how much of the schema is in b, and where the last token ended
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		after := int(dec.InputOffset())
		if text, ok := token.(string); ok {
			if clean := strings.Map(visible, text); clean != text {
				// Between tokens stand only spaces, commas and colons.
				begin := before + bytes.IndexByte(schema[before:after], '"')
				b.Write(schema[kept:begin])
				b.WriteString(quote(clean))
				kept = after
			}
		}
		before = after
	}
	return append(b.Bytes(), schema[kept:]...)
}

// mayHide is a quick look for what CleanSchema removes: it stands in JSON as it is
// or as an escape.
func mayHide(schema []byte) bool {
	return bytes.Contains(schema, []byte(`\u`)) || bytes.ContainsFunc(schema, func(r rune) bool { return r >= 0x80 && isHidden(r) })
}

// visible drops a hidden rune, as strings.Map asks. Line breaks and tabs are none.
func visible(r rune) rune {
	if isHidden(r) && r != '\n' && r != '\t' && r != '\r' {
		return -1
	}
	return r
}
