package database

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

var errLiteral = errors.New("the database answered in an unexpected form")

// maxExact is the largest integer that JavaScript holds exactly.
const maxExact = 1<<53 - 1

// encodeRows turns rows of SQL literals, one row a line, into a JSON array of
// objects. A line feed inside a text is inside quotes, so rows are told apart
// by reading, not by splitting.
func encodeRows(columns []string, rows string) ([]byte, error) {
	keys := make([][]byte, len(columns))
	for i, name := range columns {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		keys[i] = append(key, ':')
	}
	out := append(make([]byte, 0, len(rows)*2+2), '[')
	for rows != "" {
		out = append(out, '{')
		for i, key := range keys {
			if i > 0 {
				out = append(out, ',')
			}
			cell, rest, err := cutLiteral(rows)
			if err != nil {
				return nil, err
			}
			out, err = appendValue(append(out, key...), cell)
			if err != nil {
				return nil, err
			}
			rows = rest
		}
		out = append(out, '}', ',')
	}
	if out[len(out)-1] == ',' {
		out = out[:len(out)-1]
	}
	return append(out, ']'), nil
}

// cutLiteral takes the first literal and the separator behind it off s.
func cutLiteral(s string) (cell, rest string, err error) {
	end := 0
	if s != "" && s[0] == '\'' {
		for end = 1; ; end += 2 {
			n := strings.IndexByte(s[end:], '\'')
			if n < 0 {
				return "", "", errLiteral
			}
			end += n
			if end+1 >= len(s) || s[end+1] != '\'' {
				end++
				break
			}
		}
	} else if end = strings.IndexAny(s, ",\n"); end < 0 {
		end = len(s)
	}
	if end == 0 {
		return "", "", errLiteral
	}
	return s[:end], s[min(end+1, len(s)):], nil
}

func appendValue(out []byte, cell string) ([]byte, error) {
	switch cell[0] {
	case '\'':
		return appendText(out, strings.ReplaceAll(cell[1:len(cell)-1], "''", "'"))
	case 'N':
		return append(out, "null"...), nil
	case 'X':
		blob, err := blobOf(cell)
		if err != nil {
			return nil, err
		}
		return appendText(out, base64.StdEncoding.EncodeToString(blob))
	case 'T':
		blob, err := blobOf(cell[1:])
		if err != nil {
			return nil, err
		}
		return appendText(out, string(blob))
	}
	return appendNumber(out, cell)
}

func appendText(out []byte, s string) ([]byte, error) {
	text, err := json.Marshal(s)
	return append(out, text...), err
}

func blobOf(cell string) ([]byte, error) {
	if len(cell) < 3 || cell[0] != 'X' {
		return nil, errLiteral
	}
	return hex.DecodeString(cell[2 : len(cell)-1])
}

func appendNumber(out []byte, cell string) ([]byte, error) {
	if i, err := strconv.ParseInt(cell, 10, 64); err == nil {
		if i > maxExact || i < -maxExact {
			return strconv.AppendQuote(out, cell), nil
		}
		return append(out, cell...), nil
	}
	f, err := strconv.ParseFloat(cell, 64)
	switch {
	case math.IsInf(f, 1): // SQLite writes infinity as 9.0e+999
		return append(out, `"Infinity"`...), nil
	case math.IsInf(f, -1):
		return append(out, `"-Infinity"`...), nil
	case err != nil:
		return nil, errLiteral
	}
	number, err := json.Marshal(f)
	return append(out, number...), err
}
