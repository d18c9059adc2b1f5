// Package database is the built-in MCP server that answers SQL questions over
// SQLite files, and over a generated sample shop so that airlock has something
// to show before anything is configured.
//
// It only reads, by construction: files are opened with mode=ro, connections
// with query_only, SQLite's authorizer refuses every action but selecting, and
// only one statement is taken at a time. A query has a time limit, and its
// answer a limit of rows and of bytes; one that is over a limit fails and says
// how to page, it is never cut.
//
// Values come as JSON: NULL as null; integers as numbers, beyond ±2^53 as
// strings, since JavaScript would round them; reals as numbers, infinities as
// "Infinity" and "-Infinity"; text as strings; blobs as base64 strings. Rows are
// objects with the columns in the query's order; of two columns with one name
// SQLite calls the second "name:1".
//
// Start with New.
package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Options say what is served. The zero value serves the sample shop alone.
type Options struct {
	// Dir holds databases as files ending in .sqlite, .sqlite3 or .db, each
	// known by its name without the ending. It may be empty.
	Dir string
	// Seed decides what the sample shop holds: the same seed, the same shop.
	Seed uint64
	// MaxRows, MaxBytes and MaxTime limit one query; 0 means the default of
	// 10,000 rows, 4 MiB of JSON and 10 seconds.
	MaxRows, MaxBytes int
	MaxTime           time.Duration
}

const (
	defaultRows  = 10_000
	defaultBytes = 4 << 20
	defaultTime  = 10 * time.Second
)

// New checks the options and returns what makes the server. The shop is made
// when the server first starts; everything is closed when its context ends.
func New(o Options) (func(context.Context) (*mcpserver.MCPServer, error), error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	shop := sync.OnceValues(func() ([]byte, error) { return shopImage(context.Background(), o.Seed) })
	return func(ctx context.Context) (*mcpserver.MCPServer, error) {
		image, err := shop()
		if err != nil {
			return nil, fmt.Errorf("make the sample shop: %w", err)
		}
		return start(ctx, o, image), nil
	}, nil
}

// checked returns the options with their defaults.
func (o Options) checked() (Options, error) {
	if o.MaxRows < 0 || o.MaxBytes < 0 || o.MaxTime < 0 {
		return o, errors.New("database: a limit is negative; leave it 0 for the default")
	}
	if o.MaxRows == 0 {
		o.MaxRows = defaultRows
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultBytes
	}
	if o.MaxTime == 0 {
		o.MaxTime = defaultTime
	}
	if o.Dir == "" {
		return o, nil
	}
	if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
		return o, fmt.Errorf("database: %s is not a folder; create it or leave it out", o.Dir)
	}
	return o, nil
}

func start(ctx context.Context, o Options, image []byte) *mcpserver.MCPServer {
	s := &store{options: o, shop: openImage(image), files: map[string]*handle{}}
	context.AfterFunc(ctx, s.close)
	return newServer(s)
}
