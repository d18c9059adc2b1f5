package database

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// newServer offers the four tools over a store.
func newServer(s *store) *mcpserver.MCPServer {
	server := mcpserver.NewMCPServer("database", "1", mcpserver.WithToolCapabilities(false))
	for _, t := range []struct {
		name, title, description, schema string
		handle                           func(context.Context, json.RawMessage) ([]byte, error)
	}{
		{"query", "Query a database",
			fmt.Sprintf("Run one read-only SQL statement (SQLite dialect) and get its rows as a JSON array of objects. "+
				"At most %d rows and %d bytes: aggregate in SQL or page with ORDER BY, LIMIT and OFFSET. "+
				"Integers beyond 2^53 and infinities come as strings, blobs as base64.", s.options.MaxRows, s.options.MaxBytes),
			querySchema, s.handleQuery},
		{"list_databases", "List databases", "List the databases: a JSON array of {name, tables}.", emptySchema, s.handleDatabases},
		{"list_tables", "List tables", "List the tables and views of a database: a JSON array of {name, type, rows, columns}.", tablesSchema, s.handleTables},
		{"describe_table", "Describe a table", "Describe a table or view: its columns with types, keys and how many rows it has, as a JSON object.", describeSchema, s.handleDescribe},
	} {
		tool := mcp.NewToolWithRawSchema(t.name, t.description, json.RawMessage(t.schema))
		yes, no := true, false
		tool.Annotations = mcp.ToolAnnotation{Title: t.title, ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no}
		server.AddTool(tool, handler(t.handle))
	}
	return server
}

const (
	databaseProperty = `"database":{"type":"string","description":"Name of the database, as list_databases gives it. Default: shop, the sample shop"}`

	querySchema = `{"type":"object","properties":{"query":{"type":"string","description":"One SQL statement that reads: SELECT, WITH or VALUES"},` + databaseProperty +
		`,"params":{"description":"Values for ?, in order, or for :name by name","anyOf":[{"type":"array"},{"type":"object"}]}},"required":["query"],"additionalProperties":false}`
	emptySchema    = `{"type":"object","properties":{},"additionalProperties":false}`
	tablesSchema   = `{"type":"object","properties":{` + databaseProperty + `},"additionalProperties":false}`
	describeSchema = `{"type":"object","properties":{"table":{"type":"string","description":"Name of the table or view"},` + databaseProperty +
		`},"required":["table"],"additionalProperties":false}`
)

// handler answers with one text block. What is wrong with a call is a result
// that says so, for the script that made it.
func handler(handle func(context.Context, json.RawMessage) ([]byte, error)) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := r.Params.RawArguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		text, err := handle(ctx, arguments)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(string(text)), nil
	}
}

// decode refuses what the schema does not name: a mistyped optional argument
// would otherwise be ignored.
func decode(arguments json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(arguments))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func (s *store) handleQuery(ctx context.Context, arguments json.RawMessage) ([]byte, error) {
	var in struct {
		Query    string `json:"query"`
		Database string `json:"database"`
		Params   any    `json:"params"`
	}
	if err := decode(arguments, &in); err != nil {
		return nil, err
	}
	args, err := params(in.Params)
	if err != nil {
		return nil, err
	}
	db, err := s.open(in.Database)
	if err != nil {
		return nil, err
	}
	return s.query(ctx, db, in.Query, args)
}

var errParams = errors.New("params must be a list of values for ?, or an object of values for :name; a value is a string, a number, true, false or null")

func params(in any) ([]any, error) {
	var args []any
	switch in := in.(type) {
	case nil:
		return nil, nil
	case []any:
		for _, v := range in {
			arg, err := param(v)
			if err != nil {
				return nil, err
			}
			args = append(args, arg)
		}
	case map[string]any:
		for name, v := range in {
			arg, err := param(v)
			if err != nil || !nameForm.MatchString(name) {
				return nil, errParams
			}
			args = append(args, named(name, arg))
		}
	default:
		return nil, errParams
	}
	return args, nil
}

// param keeps whole numbers whole, however large.
func param(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, bool:
		return v, nil
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		f, err := v.Float64()
		if err != nil || math.IsInf(f, 0) {
			return nil, errParams
		}
		return f, nil
	}
	return nil, errParams
}
