package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"airlock/servers/internal/nearest"
)

// Result codes of SQLite that have an explanation of their own.
const (
	codeInterrupt = 9
	codeTooBig    = 18
	codeAuth      = 23
	codeNotADB    = 26
)

var (
	noTable  = regexp.MustCompile(`no such table: (?:main\.)?(\S+)`)
	noColumn = regexp.MustCompile(`no such column: (?:\S+\.)?"?([^\s"]+)`)
)

// explain says what is wrong with a query in the terms of who wrote it.
func (s *store) explain(ctx context.Context, conn *sql.Conn, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &queryError{err: fmt.Errorf("%w: over %s", errSlow, s.options.MaxTime),
			hint: "narrow it with WHERE, or aggregate less at once"}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return &queryError{err: err}
	}
	switch failure.Code() & 0xff {
	case codeTooBig:
		return s.tooLarge()
	case codeAuth:
		return &queryError{err: errors.New("this server only reads, and not the settings of databases")}
	case codeNotADB:
		return &queryError{err: errors.New("the file is not an SQLite database")}
	case codeInterrupt:
		return &queryError{err: errSlow}
	}
	return &queryError{err: errors.New(plain(failure)), hint: suggest(ctx, conn, failure.Error())}
}

// plain drops the driver's prefix and result code.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	if i := strings.LastIndex(text, " ("); i > 0 && strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	return text
}

// suggest names the tables or columns that may have been meant.
func suggest(ctx context.Context, conn *sql.Conn, text string) string {
	if conn == nil {
		return ""
	}
	if m := noTable.FindStringSubmatch(text); m != nil {
		tables := strings1(ctx, conn, "SELECT name FROM sqlite_schema WHERE type IN ('table','view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
		return meant(m[1], tables, "the tables are: ")
	}
	if m := noColumn.FindStringSubmatch(text); m != nil {
		columns := strings1(ctx, conn, "SELECT DISTINCT c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type IN ('table','view') ORDER BY 1")
		return meant(m[1], columns, "the columns of all tables are: ")
	}
	return ""
}

// maxNamed keeps an error readable where there are hundreds of names.
const maxNamed = 40

func meant(name string, known []string, all string) string {
	text := ""
	if near := nearest.Name(name, known); near != "" {
		text = fmt.Sprintf("did you mean %q? ", near)
	}
	if len(known) > maxNamed {
		known = append(slices.Clone(known[:maxNamed]), "…")
	}
	return text + all + strings.Join(known, ", ")
}

// strings1 returns the first column of a query of ours, or nothing.
func strings1(ctx context.Context, conn *sql.Conn, query string) []string {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if rows.Scan(&s) != nil {
			return nil
		}
		list = append(list, s)
	}
	if rows.Err() != nil {
		return nil
	}
	return list
}
