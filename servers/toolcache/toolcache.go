// Package toolcache keeps what servers list as their tools between runs, so
// that listing tools need not start servers.
//
// A Cache has one file for each server, named by it, and gives a list back only
// for the key that it was put with. The descriptions are kept byte for byte. A
// file that is missing, damaged, too large or of another key is the same to it:
// there is nothing in the cache. A write is seen whole or not at all, also by
// another process. Its methods may be called concurrently.
package toolcache

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"
)

// MaxBytes bounds one server's list. The largest of 35 real servers has 300 KB.
const MaxBytes = 4 << 20

// Cache is a folder of lists.
type Cache struct{ root *os.Root }

// Open opens the folder, and makes it if it is missing.
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of cached tool lists: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of cached tool lists: %w", err)
	}
	return &Cache{root: root}, nil
}

// Close releases the folder.
func (c *Cache) Close() error { return c.root.Close() }

// header is the first line of a file. The descriptions follow without anything
// between them: encoding/json would rewrite them.
type header struct {
	Format int       `json:"format"`
	Key    string    `json:"key"`
	Saved  time.Time `json:"saved"`
	Sizes  []int     `json:"sizes"`
	Sum    string    `json:"sha256"`
}

// format changes when the meaning of a file does.
const format = 1

// Get returns the descriptions that were put for the server under the key, and
// when.
func (c *Cache) Get(server, key string) (tools []json.RawMessage, saved time.Time, ok bool) {
	data, err := c.read(server)
	if err != nil {
		return nil, time.Time{}, false
	}
	line, body, found := strings.Cut(string(data), "\n")
	var h header
	if !found || json.Unmarshal([]byte(line), &h) != nil || h.Format != format || h.Key != key || h.Sum != sum(body) {
		return nil, time.Time{}, false
	}
	for _, size := range h.Sizes {
		if size < 0 || size > len(body) {
			return nil, time.Time{}, false
		}
		tools, body = append(tools, json.RawMessage(body[:size])), body[size:]
	}
	return tools, h.Saved, body == ""
}

func (c *Cache) read(server string) ([]byte, error) {
	name, err := fileName(server)
	if err != nil {
		return nil, err
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(data) > MaxBytes {
		err = errTooLarge
	}
	return data, err
}

var errTooLarge = fmt.Errorf("the list of tools has more than %d bytes", MaxBytes)

// Put keeps the descriptions in place of what was there for the server. A list
// that is over MaxBytes is an error, and what was there is gone.
func (c *Cache) Put(server, key string, tools []json.RawMessage, now time.Time) error {
	name, err := fileName(server)
	if err != nil {
		return err
	}
	data, err := encode(key, tools, now)
	if err != nil {
		return errors.Join(fmt.Errorf("cache the tools of server %q: %w", server, err), c.Remove(server))
	}
	fresh := ".new-" + rand.Text()
	err = c.root.WriteFile(fresh, data, 0o600)
	if err == nil {
		err = c.root.Rename(fresh, name)
	}
	if err != nil {
		_ = c.root.Remove(fresh) // it may not be there
		return fmt.Errorf("cache the tools of server %q: %w", server, err)
	}
	return nil
}

func encode(key string, tools []json.RawMessage, now time.Time) ([]byte, error) {
	h := header{Format: format, Key: key, Saved: now.UTC(), Sizes: make([]int, len(tools))}
	var body strings.Builder
	for i, t := range tools {
		h.Sizes[i] = len(t)
		body.Write(t)
	}
	h.Sum = sum(body.String())
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(line)+1+body.Len() > MaxBytes {
		return nil, errTooLarge
	}
	return append(append(line, '\n'), body.String()...), nil
}

// Remove forgets a server's list. Removing nothing is no error.
func (c *Cache) Remove(server string) error {
	name, err := fileName(server)
	if err != nil {
		return err
	}
	if err := c.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the cached tools of server %q: %w", server, err)
	}
	return nil
}

func sum(body string) string {
	digest := sha256.Sum256([]byte(body))
	return hex.EncodeToString(digest[:])
}

// serverForm is what a catalog takes for a name.
var serverForm = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

func fileName(server string) (string, error) {
	if !serverForm.MatchString(server) {
		return "", errors.New("the name of a server is lower-case letters, digits, - and _")
	}
	return server + ".tools", nil
}
