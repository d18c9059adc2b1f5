package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// table is data in rows.
type table struct {
	Head    []string
	Numeric []bool // by column: all of its cells are numbers
	Rows    [][]string
	More    int // rows that are not shown
}

// Bounds of a table that is shown.
const (
	maxRows    = 500
	maxColumns = 40
	maxCell    = 500 // characters
)

// tableOfCSV reads values that are separated by commas or tabs. It reports whether the
// text is so.
func tableOfCSV(text, ext string) (t table, ok bool) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	if ext == ".tsv" {
		r.Comma = '\t'
	}
	head, err := r.Read()
	if err != nil {
		return t, false
	}
	t.Head = cells(head)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return t, false
		}
		t.add(cells(row))
	}
	t.look()
	return t, true
}

// tableOfJSON reads a list of objects, the keys in the order of their first appearance.
func tableOfJSON(data []byte) (t table, ok bool) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || len(list) == 0 {
		return t, false
	}
	for _, item := range list[:min(len(list), maxRows)] {
		keys, err := keysOf(item)
		if err != nil {
			return t, false
		}
		for _, key := range keys {
			if !slices.Contains(t.Head, key) && len(t.Head) < maxColumns {
				t.Head = append(t.Head, key)
			}
		}
	}
	for _, item := range list {
		var fields map[string]json.RawMessage
		if json.Unmarshal(item, &fields) != nil {
			return table{}, false
		}
		row := make([]string, len(t.Head))
		for i, key := range t.Head {
			row[i] = cut(jsonCell(fields[key]))
		}
		t.add(row)
	}
	t.look()
	return t, true
}

// keysOf lists an object's keys in their order.
func keysOf(object []byte) (keys []string, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read a key: %w", err)
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, fmt.Errorf("read a value: %w", err)
		}
		name, _ := key.(string)
		keys = append(keys, name)
	}
	return keys, nil
}

func jsonCell(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func cells(record []string) []string {
	row := make([]string, min(len(record), maxColumns))
	for i := range row {
		row[i] = cut(record[i])
	}
	return row
}

func cut(text string) string {
	if len(text) <= maxCell {
		return text
	}
	return strings.ToValidUTF8(text[:maxCell], "") + "…"
}

func (t *table) add(row []string) {
	if len(t.Rows) >= maxRows {
		t.More++
		return
	}
	t.Rows = append(t.Rows, row)
}

var numeric = regexp.MustCompile(`^-?[0-9][0-9,]*(\.[0-9]+)?%?$`)

// look finds the columns of numbers, which are set to the right.
func (t *table) look() {
	t.Numeric = make([]bool, len(t.Head))
	for i := range t.Head {
		filled, fits := false, true
		for _, row := range t.Rows {
			if i < len(row) && row[i] != "" {
				filled, fits = true, fits && numeric.MatchString(row[i])
			}
		}
		t.Numeric[i] = filled && fits
	}
}
