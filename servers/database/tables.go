package database

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
)

// nameForm is what follows the colon of a named parameter.
var nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func named(name string, value any) any { return sql.Named(name, value) }

// listTables leaves out what SQLite keeps for itself.
const listTables = `SELECT name, type FROM sqlite_schema
WHERE type IN ('table','view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`

func (s *store) handleDatabases(ctx context.Context, arguments json.RawMessage) ([]byte, error) {
	if err := decode(arguments, &struct{}{}); err != nil {
		return nil, err
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	type database struct {
		Name   string   `json:"name"`
		Tables []string `json:"tables"`
		Error  string   `json:"error,omitempty"`
	}
	list := make([]database, 0, len(names))
	for _, name := range names {
		d := database{Name: name, Tables: []string{}}
		if tables, err := s.tableNames(ctx, name); err != nil {
			d.Error = err.Error()
		} else {
			d.Tables = append(d.Tables, tables...)
		}
		list = append(list, d)
	}
	return json.Marshal(list)
}

func (s *store) tableNames(ctx context.Context, database string) ([]string, error) {
	rows, err := s.ask(ctx, database, listTables, nil)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i], _ = row["name"].(string)
	}
	return names, nil
}

// ask runs a query of ours under the limits of any other.
func (s *store) ask(ctx context.Context, database, query string, args []any) ([]map[string]any, error) {
	db, err := s.open(database)
	if err != nil {
		return nil, err
	}
	data, err := s.query(ctx, db, query, args)
	if err != nil {
		return nil, err
	}
	var rows []map[string]any
	return rows, json.Unmarshal(data, &rows)
}

func (s *store) handleTables(ctx context.Context, arguments json.RawMessage) ([]byte, error) {
	var in struct {
		Database string `json:"database"`
	}
	if err := decode(arguments, &in); err != nil {
		return nil, err
	}
	tables, err := s.ask(ctx, in.Database, listTables, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		name, _ := t["name"].(string)
		d, err := s.describe(ctx, in.Database, name)
		if err != nil {
			return nil, err
		}
		names := make([]string, len(d.Columns))
		for i, c := range d.Columns {
			names[i] = c.Name
		}
		t["rows"], t["columns"] = d.Rows, names
	}
	return json.Marshal(tables)
}

// table is what describe_table answers.
type table struct {
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	Rows        int64        `json:"rows"`
	Columns     []column     `json:"columns"`
	ForeignKeys []foreignKey `json:"foreignKeys,omitempty"`
}

type column struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Nullable   bool   `json:"nullable"`
	PrimaryKey bool   `json:"primaryKey,omitempty"`
}

type foreignKey struct {
	Column     string `json:"column"`
	References string `json:"references"`
}

func (s *store) handleDescribe(ctx context.Context, arguments json.RawMessage) ([]byte, error) {
	var in struct {
		Table    string `json:"table"`
		Database string `json:"database"`
	}
	if err := decode(arguments, &in); err != nil {
		return nil, err
	}
	d, err := s.describe(ctx, in.Database, in.Table)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

func (s *store) describe(ctx context.Context, database, name string) (*table, error) {
	kinds, err := s.ask(ctx, database, "SELECT name, type FROM sqlite_schema WHERE type IN ('table','view') AND name = ? COLLATE NOCASE", []any{name})
	if err != nil {
		return nil, err
	}
	if len(kinds) == 0 {
		return nil, s.noSuchTable(ctx, database, name)
	}
	d := &table{}
	d.Name, _ = kinds[0]["name"].(string)
	d.Type, _ = kinds[0]["type"].(string)
	if err := s.describeColumns(ctx, database, d); err != nil {
		return nil, err
	}
	count, err := s.ask(ctx, database, `SELECT count(*) AS n FROM `+identifier(d.Name), nil)
	if err != nil {
		return nil, err
	}
	n, _ := count[0]["n"].(float64)
	d.Rows = int64(n)
	return d, nil
}

func (s *store) describeColumns(ctx context.Context, database string, d *table) error {
	columns, err := s.ask(ctx, database, `SELECT name, type, "notnull", pk FROM pragma_table_info(?)`, []any{d.Name})
	if err != nil {
		return err
	}
	for _, c := range columns {
		col := column{Nullable: c["notnull"] == 0.0, PrimaryKey: c["pk"] != 0.0}
		col.Name, _ = c["name"].(string)
		col.Type, _ = c["type"].(string)
		d.Columns = append(d.Columns, col)
	}
	keys, err := s.ask(ctx, database, `SELECT "from" AS col, "table" || '(' || coalesce("to", 'rowid') || ')' AS target FROM pragma_foreign_key_list(?)`, []any{d.Name})
	if err != nil {
		return err
	}
	for _, k := range keys {
		var key foreignKey
		key.Column, _ = k["col"].(string)
		key.References, _ = k["target"].(string)
		d.ForeignKeys = append(d.ForeignKeys, key)
	}
	return nil
}

func (s *store) noSuchTable(ctx context.Context, database, name string) error {
	names, err := s.tableNames(ctx, database)
	if err != nil {
		return err
	}
	return &queryError{err: errors.New("there is no such table"), hint: meant(name, names, "the tables are: ")}
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
