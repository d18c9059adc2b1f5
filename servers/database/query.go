package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
)

// query runs one statement and returns its rows as a JSON array.
//
// The driver heeds its context only until the first row, and keeps everything
// that a query computes in memory. So SQLite itself is asked to put the whole
// answer into one text, in its first row: then the time limit holds for all of
// it, and the limit on the length of a text, which SQLite checks as the text
// grows, limits the answer.
func (s *store) query(ctx context.Context, db *sql.DB, text string, args []any) ([]byte, error) {
	stmt, err := parseStatement(text)
	if err != nil {
		return nil, &queryError{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.MaxTime)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, s.explain(ctx, nil, err)
	}
	defer conn.Close()
	columns, err := s.columns(ctx, conn, stmt, args)
	if err != nil {
		return nil, s.explain(ctx, conn, err)
	}
	answer, count, err := s.collect(ctx, conn, stmt, columns, args)
	if err != nil {
		return nil, s.explain(ctx, conn, err)
	}
	if count > s.options.MaxRows {
		return nil, &queryError{err: fmt.Errorf("the query has more than %d rows and none are returned", s.options.MaxRows), hint: pageHint}
	}
	rows, err := encodeRows(columns, answer)
	if err == nil && len(rows) > s.options.MaxBytes {
		err = s.tooLarge()
	}
	return rows, err
}

const pageHint = "aggregate in SQL, or page: add ORDER BY a unique column and LIMIT 1000 OFFSET 0, then OFFSET 1000 and so on"

func (s *store) tooLarge() error {
	return &queryError{err: fmt.Errorf("the answer has more than %d bytes and nothing is returned", s.options.MaxBytes),
		hint: "select fewer columns, cut long ones with substr(), or page with LIMIT and OFFSET"}
}

// columns compiles the statement by itself, so that an error is about what was
// written, and returns the names of its columns.
func (s *store) columns(ctx context.Context, conn *sql.Conn, stmt statement, args []any) ([]string, error) {
	prepared, err := conn.PrepareContext(ctx, stmt.text)
	if err != nil {
		return nil, err
	}
	if err := prepared.Close(); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, "SELECT * FROM (\n"+stmt.text+"\n) LIMIT 0", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	return names, rows.Err()
}

func (s *store) collect(ctx context.Context, conn *sql.Conn, stmt statement, columns []string, args []any) (string, int, error) {
	// Literals take up to twice the room of values, and rows a separator more.
	if err := limitLength(conn, 2*s.options.MaxBytes); err != nil {
		return "", 0, err
	}
	defer func() { _ = limitLength(conn, sqliteMaxLength) }()
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = literal(identifier(name))
	}
	var answer sql.NullString
	var count int
	err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT group_concat(%s, char(10)), count(*) FROM (SELECT * FROM (\n%s\n) LIMIT %d)",
		strings.Join(cells, "||','||"), stmt.text, s.options.MaxRows+1), args...).Scan(&answer, &count)
	return answer.String, count, err
}

// literal is an expression for a column's value as an SQL literal. quote stops
// at a NUL character, so such a text is written as a marked blob.
func literal(column string) string {
	return fmt.Sprintf("CASE WHEN typeof(%[1]s)='text' AND instr(%[1]s,char(0))>0 THEN 'T'||quote(CAST(%[1]s AS BLOB)) ELSE quote(%[1]s) END", column)
}

const (
	// limitLengthID is SQLITE_LIMIT_LENGTH, the limit of a text, a blob or a row.
	limitLengthID   = 0
	sqliteMaxLength = 1_000_000_000
)

func limitLength(conn *sql.Conn, n int) error {
	_, err := sqlite.Limit(conn, limitLengthID, n)
	return err
}

// queryError is a mistake of the query, for whoever wrote it.
type queryError struct {
	err  error
	hint string
}

func (e *queryError) Error() string {
	if e.hint == "" {
		return e.err.Error()
	}
	return e.err.Error() + "; " + e.hint
}

func (e *queryError) Unwrap() error { return e.err }

var errSlow = errors.New("the query takes too long")
