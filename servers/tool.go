package servers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"airlock/pii"
)

// separator stands between a server's name and a tool's in a full name.
const separator = "__"

// Tool is what a server says about one of its tools. Its schemas are the bytes
// that the server sent: decoding and encoding them again would lose parts of
// most real ones.
type Tool struct {
	Server, Name              string
	Title, Description        pii.Raw
	InputSchema, OutputSchema pii.Raw
	Annotations               Annotations
}

// FullName is the name that scripts call the tool by.
func (t Tool) FullName() string { return t.Server + separator + t.Name }

// Annotations are a server's own claims about a tool; nil is a claim not made.
// They are hints: a hostile server may lie.
type Annotations struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// toolForm is what MCP recommends for names, with the / and : that some use.
// Names go into addresses and logs, so others are left out; an @ or a space
// would let personal data pass as a name.
var toolForm = regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,128}$`)

// wireTool is a tool of a tools/list result.
type wireTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		Title           string `json:"title"`
		ReadOnlyHint    *bool  `json:"readOnlyHint"`
		DestructiveHint *bool  `json:"destructiveHint"`
		IdempotentHint  *bool  `json:"idempotentHint"`
		OpenWorldHint   *bool  `json:"openWorldHint"`
	} `json:"annotations"`
}

type toolPage struct {
	Tools      []json.RawMessage `json:"tools"`
	NextCursor string            `json:"nextCursor"`
}

// toolOf reads one tool. One that cannot be used is an error of that tool alone.
func toolOf(server string, raw json.RawMessage) (Tool, error) {
	var w wireTool
	if err := json.Unmarshal(raw, &w); err != nil {
		return Tool{}, fmt.Errorf("a tool of server %q is not described as the protocol asks", server)
	}
	if !toolForm.MatchString(w.Name) {
		return Tool{}, fmt.Errorf("a tool of server %q has a name that cannot be used", server)
	}
	title := w.Title
	if title == "" {
		title = w.Annotations.Title
	}
	return Tool{
		Server: server, Name: w.Name,
		Title: pii.NewRaw(title), Description: pii.NewRaw(w.Description),
		InputSchema: pii.NewRaw(string(w.InputSchema)), OutputSchema: pii.NewRaw(string(w.OutputSchema)),
		Annotations: Annotations{
			ReadOnly: w.Annotations.ReadOnlyHint, Destructive: w.Annotations.DestructiveHint,
			Idempotent: w.Annotations.IdempotentHint, OpenWorld: w.Annotations.OpenWorldHint,
		},
	}, nil
}

// splitName parts a full name at its first separator: a server's name holds none.
func splitName(fullName string) (server, tool string, ok bool) {
	server, tool, ok = strings.Cut(fullName, separator)
	return server, tool, ok && server != "" && tool != ""
}

// toolList is the tools of one connection, in the server's order.
type toolList struct {
	tools  []Tool
	byName map[string]int
}

func newToolList(tools []Tool) *toolList {
	l := &toolList{byName: make(map[string]int, len(tools))}
	for _, t := range tools {
		if _, twice := l.byName[t.Name]; twice {
			continue
		}
		l.byName[t.Name] = len(l.tools)
		l.tools = append(l.tools, t)
	}
	return l
}

func (l *toolList) find(name string) (Tool, bool) {
	i, ok := l.byName[name]
	if !ok {
		return Tool{}, false
	}
	return l.tools[i], true
}
