package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"airlock/servers/internal/document"
)

// maxDepth is far deeper than these files go.
const maxDepth = 32

func parseYAML(data []byte) (*document.Node, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return nil, errors.New("the file is empty")
	}
	return fromYAML(root.Content[0], "", 0)
}

// fromYAML makes the nodes that JSON would give. Aliases are refused: small files
// can unfold into huge ones, and none of these formats uses them.
func fromYAML(y *yaml.Node, path string, depth int) (*document.Node, error) {
	if depth > maxDepth {
		return nil, &document.PlaceError{Line: y.Line, Text: fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	n := &document.Node{Path: path, Line: y.Line}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = document.Object
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			value, err := fromYAML(y.Content[i+1], document.Join(path, key.Value), depth+1)
			if err != nil {
				return nil, err
			}
			n.Members = append(n.Members, document.Member{Key: key.Value, Line: key.Line, Value: value})
		}
	case yaml.SequenceNode:
		n.Kind = document.Array
		for i, item := range y.Content {
			value, err := fromYAML(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, value)
		}
	case yaml.ScalarNode:
		n.Value = scalar(y)
	default:
		return nil, &document.PlaceError{Line: y.Line, Text: "aliases are not read; write the value itself"}
	}
	return n, nil
}

func scalar(y *yaml.Node) any {
	switch y.Tag {
	case "!!null":
		return nil
	case "!!bool":
		if b, err := strconv.ParseBool(y.Value); err == nil {
			return b
		}
	case "!!int", "!!float":
		return json.Number(y.Value)
	}
	return y.Value
}
