package wire

import (
	"encoding/json"
	"errors"
	"strings"
)

// errArguments holds nothing of the arguments.
var errArguments = errors.New("the arguments of a tool call are not a JSON object")

// Arguments returns a tool call's arguments as the text of a JSON object. Models
// and gateways also send nothing or null for none, and objects within a string.
func Arguments(raw string) (string, error) {
	text := strings.TrimSpace(raw)
	if inner := ""; strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		text = strings.TrimSpace(inner)
	}
	switch {
	case text == "" || text == "null":
		return "{}", nil
	case strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return text, nil
	default:
		return "", errArguments
	}
}

// Piece returns what one piece of streamed arguments adds to the text: strings
// add their content, values that a server sent whole add their JSON.
func Piece(raw json.RawMessage) string {
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return text
}
