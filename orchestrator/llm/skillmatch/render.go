package skillmatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What an answer shows at most of a result without a report of its own.
const (
	maxRows    = 20
	maxColumns = 8
	maxLines   = 60
)

// report is a result as the user reads it: its own report, or a compact form.
func report(result json.RawMessage) string {
	if own := text(field(result, "report")); own != "" {
		return own
	}
	if plain := text(result); plain != "" {
		return plain
	}
	trimmed := strings.TrimSpace(string(result))
	switch {
	case trimmed == "" || trimmed == "null" || trimmed == `""`:
		return ""
	case strings.HasPrefix(trimmed, "["):
		if table := table(result); table != "" {
			return table
		}
	}
	return block(result)
}

// block is indented JSON, cut at the end of a line: PII tokens have no line ends.
func block(result json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, result, "", "  ") != nil {
		return string(result)
	}
	lines := strings.Split(b.String(), "\n")
	more := ""
	if len(lines) > maxLines {
		more = fmt.Sprintf("\n(%d more lines)", len(lines)-maxLines)
		lines = lines[:maxLines]
	}
	return "```json\n" + strings.Join(lines, "\n") + "\n```" + more
}

// table renders an array of flat objects of equal keys in Markdown; "" if result
// is not one.
func table(result json.RawMessage) string {
	var rows []row
	if json.Unmarshal(result, &rows) != nil || len(rows) == 0 {
		return ""
	}
	columns := rows[0].keys
	if len(columns) == 0 || len(columns) > maxColumns {
		return ""
	}
	for _, r := range rows {
		if !slices.Equal(r.keys, columns) {
			return ""
		}
	}
	var b strings.Builder
	line(&b, columns)
	line(&b, slices.Repeat([]string{"---"}, len(columns)))
	for _, r := range rows[:min(maxRows, len(rows))] {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = r.cells[column]
		}
		line(&b, cells)
	}
	if len(rows) > maxRows {
		fmt.Fprintf(&b, "\n%d more rows", len(rows)-maxRows)
	}
	return strings.TrimRight(b.String(), "\n")
}

// row is a flat JSON object with its keys in their order.
type row struct {
	keys  []string
	cells map[string]string
}

// UnmarshalJSON refuses what is not a flat object.
func (r *row) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errNotFlat
	}
	r.cells = map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if _, nested := value.(json.Delim); nested || err != nil {
			return errNotFlat
		}
		if value == nil {
			value = ""
		}
		name := fmt.Sprint(key)
		r.keys = append(r.keys, name)
		r.cells[name] = fmt.Sprint(value)
	}
	return nil
}

var errNotFlat = errors.New("not a flat object")

// cellEscaper keeps a cell within its cell.
var cellEscaper = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ")

func line(b *strings.Builder, cells []string) {
	b.WriteString("|")
	for _, cell := range cells {
		b.WriteString(" " + cellEscaper.Replace(cell) + " |")
	}
	b.WriteString("\n")
}

// oneParagraph is the first paragraph of a text, for reasons.
func oneParagraph(s string) string {
	first, _, _ := strings.Cut(s, "\n\n")
	return first
}
