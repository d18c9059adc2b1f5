package discovery

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// maxBlocks bounds how many blocks of one result are looked at.
const maxBlocks = maxShapeItems

// ResultValue is the JSON of what callMCPTool makes of an MCP result, to learn a
// Shape from: its structuredContent, else its one content block or a list of all.
// A text that is no JSON stands as an empty string, and media as the file that it
// is saved to. It returns nothing for a result without content.
func ResultValue(result []byte) []byte {
	root := gjson.ParseBytes(result)
	if structured := member(root, "structuredContent"); structured.Exists() && structured.Type != gjson.Null {
		return []byte(structured.Raw)
	}
	content := member(root, "content")
	if !content.IsArray() {
		return nil
	}
	var blocks [][]byte
	content.ForEach(func(_, block gjson.Result) bool {
		blocks = append(blocks, blockValue(block))
		return len(blocks) < maxBlocks
	})
	switch len(blocks) {
	case 0:
		return nil
	case 1:
		return blocks[0]
	}
	list := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, b...)
	}
	return append(list, ']')
}

var mediaValue = []byte(`{"path":"","mimeType":""}`)

func blockValue(block gjson.Result) []byte {
	switch member(block, "type").Str {
	case "text":
		text := member(block, "text")
		switch {
		case text.Type != gjson.String:
			return []byte("null")
		case json.Valid([]byte(text.Str)):
			return []byte(text.Str)
		}
		return []byte(`""`)
	case "image", "audio":
		return mediaValue
	case "resource":
		resource := member(block, "resource")
		if member(resource, "blob").Type == gjson.String {
			return mediaValue
		}
		return orNull(resource)
	}
	return orNull(block)
}

func orNull(v gjson.Result) []byte {
	if !v.Exists() {
		return []byte("null")
	}
	return []byte(v.Raw)
}
