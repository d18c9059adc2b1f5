// Package importer turns the files in which other programs keep their MCP
// servers into entries of a catalog: the mcpServers of Claude and its likes, the
// mcp.json of VS Code, the server.json of a registry and the server.yaml of
// Docker's.
//
// Read recognises the format and converts a file, Merge puts the result into a
// catalog. What an entry cannot say is reported as a warning with its line,
// never dropped in silence. Secrets that are written into a file are not taken
// over: they become inputs that read the environment. Nothing here starts a
// server or touches the network.
package importer

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"airlock/servers/internal/document"
)

// Entry is one server in the form of a catalog.
type Entry struct {
	Description string            `json:"description,omitempty"`
	Category    string            `json:"category,omitempty"`
	Tags        []string          `json:"tags,omitempty"`
	Enabled     *bool             `json:"enabled,omitempty"`
	Transport   string            `json:"transport,omitempty"`
	Package     *Package          `json:"package,omitempty"`
	Command     string            `json:"command,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Cwd         string            `json:"cwd,omitempty"`
	URL         string            `json:"url,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Lifecycle   *Lifecycle        `json:"lifecycle,omitempty"`
	Tools       *Tools            `json:"tools,omitempty"`
	Requires    []string          `json:"requires,omitempty"`
}

// Package is the package that holds a server.
type Package struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Lifecycle is what the other formats say about a server's times.
type Lifecycle struct {
	InitTimeoutMs int `json:"initTimeoutMs,omitempty"`
	CallTimeoutMs int `json:"callTimeoutMs,omitempty"`
}

// Tools is which tools of a server are offered, and how.
type Tools struct {
	Allow    []string          `json:"allow,omitempty"`
	Deny     []string          `json:"deny,omitempty"`
	Approval map[string]string `json:"approval,omitempty"`
}

// Input is a value that entries refer to.
type Input struct {
	ID          string `json:"id"`
	Secret      bool   `json:"secret,omitempty"`
	From        string `json:"from,omitempty"`
	Value       string `json:"value,omitempty"`
	Description string `json:"description,omitempty"`
}

// Server is an entry with its name.
type Server struct {
	Name  string
	Entry Entry
}

// Result is what a file holds.
type Result struct {
	// Format names what the file was taken for, in words.
	Format   string
	Inputs   []Input
	Servers  []Server // in the order of the file
	Warnings []string // each with file, line and path
}

// MaxBytes is many times what such a file needs.
const MaxBytes = 4 << 20

// Read converts a file. Its path serves the messages, and tells a file of VS Code
// where its workspace is. The error lists every mistake with line and path.
func Read(path string, data []byte) (*Result, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("import %s: it has %d bytes, more than the %d such a file may have", path, len(data), MaxBytes)
	}
	root, err := parse(path, data)
	if err != nil {
		var placed *document.PlaceError
		if errors.As(err, &placed) {
			return nil, fmt.Errorf("%s:%d: %w", path, placed.Line, err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := converter{Reader: document.Reader{File: path, Lenient: true}, path: path, inputs: map[string]Input{}, names: map[string]bool{}, hides: map[string]string{}}
	if err := c.convert(root); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(c.Problems) > 0 {
		return nil, fmt.Errorf("%s cannot be imported:\n%w", path, errors.Join(c.Problems...))
	}
	c.result.Warnings = c.Warnings
	return &c.result, nil
}

// parse reads YAML by the file's name, else JSON with the comments and trailing
// commas that editors allow.
func parse(path string, data []byte) (*document.Node, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return parseYAML(data)
	}
	plain, err := hujson.Standardize(data)
	if err != nil {
		plain = data // the parser below names the line
	}
	return document.Parse(plain)
}

func (c *converter) convert(root *document.Node) error {
	if root.Kind != document.Object {
		return fmt.Errorf("must be an object, not %s", root.KindName())
	}
	has := func(key string) bool { return root.Member(key) != nil }
	switch {
	case has("schemaVersion"):
		return errors.New("is a catalog of airlock already; copy its entries into yours")
	case has("mcpServers"):
		c.result.Format = "mcpServers of Claude and others"
		c.clientFile(root)
	case has("servers"), has("mcp") && root.Member("mcp").Member("servers") != nil:
		c.result.Format = "mcp.json of VS Code"
		c.vscodeFile(root)
	case has("name") && (has("packages") || has("remotes")):
		c.result.Format = "server.json of a registry"
		c.refuseReferences(root)
		c.registryServer(root)
	case has("server") && root.Member("server").Member("name") != nil:
		c.result.Format = "server.json of a registry"
		c.refuseReferences(root)
		c.registryServer(root.Member("server"))
	case has("name") && (has("image") || has("remote") || has("type")):
		c.result.Format = "server.yaml of Docker's registry"
		c.refuseReferences(root)
		c.dockerServer(root)
	default:
		return errors.New(`is none of the known formats: mcpServers (Claude and others), "servers" (VS Code), ` +
			`"name" with "packages" or "remotes" (a registry's server.json), "name" with "image" or "remote" (Docker's server.yaml)`)
	}
	return nil
}
