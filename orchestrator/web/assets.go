package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed static templates
var files embed.FS

const staticPrefix = "/ui/static/"

// assets are the files in static/, each under a name that changes with its content, so
// that browsers may keep them.
type assets struct {
	urls  map[string]string // by file name
	paths map[string][]byte // by the rest of the URL
}

func loadAssets() (assets, error) {
	a := assets{map[string]string{}, map[string][]byte{}}
	entries, err := files.ReadDir("static")
	if err != nil {
		return a, fmt.Errorf("web: %w", err)
	}
	for _, e := range entries {
		data, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			return a, fmt.Errorf("web: %w", err)
		}
		sum := sha256.Sum256(data)
		name := hex.EncodeToString(sum[:6]) + "/" + e.Name()
		a.urls[e.Name()], a.paths[name] = staticPrefix+name, data
	}
	return a, nil
}

var staticTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// ServeHTTP answers below staticPrefix.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := a.paths[strings.TrimPrefix(r.URL.Path, staticPrefix)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", staticTypes[path.Ext(r.URL.Path)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data)
}

func (p *Page) parseTemplates() (*template.Template, error) {
	t := template.New("").Funcs(template.FuncMap{
		"asset":    func(name string) string { return p.static.urls[name] },
		"markdown": p.markdown.render, "code": highlight, "pretty": pretty,
		"bytes": byteCount, "took": took, "clock": clock, "stamp": stamp, "number": number,
		"join": strings.Join, "status": statusWords, "path": pathOf, "plural": plural,
	})
	return t.ParseFS(files, "templates/*.html")
}

// byteCount puts a size into words.
func byteCount(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " KB"
	default:
		return strconv.FormatFloat(float64(n)/1000_000, 'f', 1, 64) + " MB"
	}
}

// took puts a duration into words.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	default:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// clock and stamp are for <time>: what is read without a script, and by one.
func clock(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// number groups thousands.
func number(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + more
}

// statusWords says a task's status as people do.
func statusWords(status string) string {
	switch status {
	case "queued":
		return "In line"
	case "running":
		return "Working"
	case "awaiting_approval":
		return "Waiting for you"
	case "completed":
		return "Done"
	case "failed":
		return "Failed"
	case "cancelled":
		return "Stopped"
	default:
		return status
	}
}
