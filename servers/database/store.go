package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"

	"airlock/servers/internal/nearest"
)

// sampleName is the database that is always there, unless a file has its name.
const sampleName = "shop"

// store opens databases by name and keeps their connections.
type store struct {
	options Options
	shop    *sql.DB

	mu     sync.Mutex // guards what follows
	files  map[string]*handle
	closed bool
}

// handle is an open file with what it was when it was opened, to notice that
// another file took its place.
type handle struct {
	db   *sql.DB
	info os.FileInfo
}

// unknownError is a name that no database has.
type unknownError struct{ nearest, known string }

func (e *unknownError) Error() string {
	if e.nearest != "" {
		return fmt.Sprintf("there is no such database; did you mean %q? The databases are: %s", e.nearest, e.known)
	}
	return "there is no such database; the databases are: " + e.known
}

var errStopped = errors.New("the database server has been stopped")

// names lists the databases, the shop first.
func (s *store) names() ([]string, error) {
	names := []string{sampleName}
	if s.options.Dir == "" {
		return names, nil
	}
	entries, err := os.ReadDir(s.options.Dir)
	if err != nil {
		return nil, errors.New("the folder of databases cannot be read")
	}
	for _, e := range entries {
		if name, ok := databaseName(e.Name()); ok && !e.IsDir() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

var endings = []string{".sqlite", ".sqlite3", ".db"}

func databaseName(file string) (string, bool) {
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(file, ending); ok && name != "" && !strings.HasPrefix(name, ".") {
			return name, true
		}
	}
	return "", false
}

// open returns the database of a name, "" being the first. Only names that the
// folder lists are opened, so a name cannot lead out of it.
func (s *store) open(name string) (*sql.DB, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = sampleName
	}
	if !slices.Contains(names, name) {
		return nil, &unknownError{nearest: nearest.Name(name, names), known: strings.Join(names, ", ")}
	}
	for _, ending := range endings {
		if s.options.Dir == "" {
			break
		}
		path := filepath.Join(s.options.Dir, name+ending)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return s.file(path, info)
		}
	}
	if name != sampleName {
		return nil, &unknownError{known: strings.Join(names, ", ")} // gone since it was listed
	}
	return s.shop, nil
}

func (s *store) file(path string, info os.FileInfo) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errStopped
	}
	if h := s.files[path]; h != nil {
		if os.SameFile(h.info, info) {
			return h.db, nil
		}
		_ = h.db.Close() // nothing was written that could be lost
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, errors.New("the folder of databases cannot be found")
	}
	u := url.URL{Scheme: "file", Path: absolute, RawQuery: "mode=ro&_busy_timeout=2000&" + guards}
	db := openGuarded(u.String(), nil)
	s.files[path] = &handle{db: db, info: info}
	return db, nil
}

func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = s.shop.Close()
	for _, h := range s.files {
		_ = h.db.Close()
	}
}

// guards are set on every connection. Temporary tables go to files: in memory a
// query could take all that the machine has, and this build of SQLite has no
// limit for it. SQLite unlinks such a file as soon as it is open.
const guards = "_query_only=1&_defensive=1&_dqs=0&_pragma=temp_store(1)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"

// connector opens connections that only read, and fills them with an image if
// there is one.
type connector struct {
	dsn   string
	image []byte
}

// openImage serves a database from memory.
func openImage(image []byte) *sql.DB { return openGuarded("file::memory:?"+guards, image) }

func openGuarded(dsn string, image []byte) *sql.DB {
	db := sql.OpenDB(&connector{dsn: dsn, image: image})
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(4)
	db.SetConnMaxIdleTime(time.Minute)
	return db
}

// Connect is called by database/sql.
func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c *connector) prepare(conn driver.Conn) error {
	if c.image != nil {
		d, ok := conn.(interface{ Deserialize([]byte) error })
		if !ok {
			return errors.New("the driver cannot load an image")
		}
		if err := d.Deserialize(c.image); err != nil {
			return err
		}
	}
	registerer, ok := conn.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errors.New("the driver has no authorizer")
	}
	return registerer.RegisterAuthorizer(onlyReading)
}

// Driver is called by database/sql.
func (c *connector) Driver() driver.Driver { return &sqlite.Driver{} }

// readPragmas tell about tables. database_list is not among them: it tells
// where files are on this machine.
var readPragmas = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"}

// onlyReading lets SQLite compile nothing that writes, attaches or configures.
func onlyReading(action sqlite.AuthorizerActionCode, first, second, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if !strings.EqualFold(second, "load_extension") {
			return sqlite.AuthorizerOK
		}
	case sqlite.AuthPragma:
		if slices.Contains(readPragmas, strings.ToLower(first)) {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}
