package web

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"go.uber.org/zap"
)

func (v *visit) artifacts(ctx context.Context) ([]artifact, error) {
	var list struct {
		Artifacts []artifact `json:"artifacts"`
	}
	err := v.get(ctx, "/artifacts/"+url.PathEscape(v.about.User), &list)
	return list.Artifacts, err
}

func (p *Page) showFiles(w http.ResponseWriter, r *http.Request, v *visit) error {
	list, err := v.artifacts(r.Context())
	if err != nil {
		return err
	}
	p.render(w, http.StatusOK, "files", p.frame(r, v, frame{Title: "Files", Here: "files", Content: list}))
	return nil
}

// openFile asks for one of the visitor's files; its receiver closes the body.
func (v *visit) openFile(ctx context.Context, name, query string) (*http.Response, error) {
	return v.open(ctx, http.MethodGet, "/artifacts/"+url.PathEscape(v.about.User)+"/"+pathOf(name)+query, nil)
}

func (v *visit) readFile(ctx context.Context, name, query string, most int64) (data []byte, kind string, err error) {
	answer, err := v.openFile(ctx, name, query)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	data, err = io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil {
		return nil, "", fmt.Errorf("read a file: %w", err)
	}
	return data, kindOf(answer), nil
}

func kindOf(answer *http.Response) string {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// inert is the policy for what is not a page of ours, wherever it is opened.
const inert = "default-src 'none'; sandbox"

// pictures are the types that are shown as such.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}

func (p *Page) imageFile(w http.ResponseWriter, r *http.Request, v *visit) error {
	answer, err := v.openFile(r.Context(), r.PathValue("name"), "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	kind := kindOf(answer)
	if !slices.Contains(pictures, kind) {
		return &problem{Status: http.StatusUnsupportedMediaType, Message: "That file is no picture.", Hint: "Download it instead."}
	}
	w.Header().Set("Content-Security-Policy", inert+"; style-src 'unsafe-inline'") // of a drawing itself
	w.Header().Set("Content-Type", kind)
	p.pass(w, answer.Body)
	return nil
}

// framed is the policy for a document that a script made: it may run its own scripts,
// in an origin of its own, and reach nothing.
const framed = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// frameFile shows a document with tokens: its scripts could bring values out. It does
// so within our page only, whose policy keeps the frame from going anywhere else; in a
// tab of its own a script could.
func (p *Page) frameFile(w http.ResponseWriter, r *http.Request, v *visit) error {
	if place := r.Header.Get("Sec-Fetch-Dest"); place != "" && place != "iframe" {
		return &problem{Status: http.StatusForbidden, Message: "A document is shown inside of this page only.", Hint: "Open it from Files, or download it."}
	}
	answer, err := v.openFile(r.Context(), r.PathValue("name"), "?tokenized=true")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Security-Policy", framed)
	w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	p.pass(w, answer.Body)
	return nil
}

func (p *Page) downloadFile(w http.ResponseWriter, r *http.Request, v *visit) error {
	name := r.PathValue("name")
	answer, err := v.openFile(r.Context(), name, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	attach(w, path.Base(name), kindOf(answer))
	p.pass(w, answer.Body)
	return nil
}

// flusher sends on what is written to it, so that no file is held in memory.
type flusher struct{ http.ResponseWriter }

func (f flusher) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	f.ResponseWriter.(http.Flusher).Flush() // package api serves pages, which may always stream
	return n, err
}

// passedBytes is how much of a file is sent at once.
const passedBytes = 64 << 10

// pass sends a file as it comes.
func (p *Page) pass(w http.ResponseWriter, file io.Reader) {
	if _, err := io.CopyBuffer(flusher{w}, file, make([]byte, passedBytes)); err != nil {
		p.opts.Log.Debug("a download ended early", zap.Error(err))
	}
}

func attach(w http.ResponseWriter, name, kind string) {
	w.Header().Set("Content-Security-Policy", inert)
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// downloadAll packs all files of the visitor.
func (p *Page) downloadAll(w http.ResponseWriter, r *http.Request, v *visit) error {
	list, err := v.artifacts(r.Context())
	if err != nil {
		return err
	}
	p.archive(w, r, v, list)
	return nil
}

// downloadTurn packs the files of one task.
func (p *Page) downloadTurn(w http.ResponseWriter, r *http.Request, v *visit) error {
	t, err := v.turnSoFar(r.Context(), r.PathValue("task"))
	if err != nil {
		return err
	}
	p.archive(w, r, v, t.Files)
	return nil
}

// archive packs files, one after the other. One that was deleted is left out. What
// fails in the midst breaks the archive off, which programs for archives notice.
func (p *Page) archive(w http.ResponseWriter, r *http.Request, v *visit, list []artifact) {
	attach(w, "airlock-files.zip", "application/zip")
	out := bufio.NewWriterSize(flusher{w}, passedBytes)
	pack := zip.NewWriter(out)
	for _, a := range list {
		var told *problem
		err := v.pack(r.Context(), pack, a.Name)
		if errors.As(err, &told) && told.Status == http.StatusNotFound {
			continue
		}
		if err != nil {
			p.opts.Log.Debug("an archive ended early", zap.Error(err))
			return
		}
	}
	if err := errors.Join(pack.Close(), out.Flush()); err != nil {
		p.opts.Log.Debug("an archive ended early", zap.Error(err))
	}
}

func (v *visit) pack(ctx context.Context, to *zip.Writer, name string) error {
	answer, err := v.openFile(ctx, name, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	entry, err := to.Create(name)
	if err != nil {
		return fmt.Errorf("pack a file: %w", err)
	}
	if _, err := io.Copy(entry, answer.Body); err != nil {
		return fmt.Errorf("pack a file: %w", err)
	}
	return nil
}

// maxPreview bounds what is read to show a file, in bytes.
const maxPreview = 1 << 20

// isMarkdown reports whether a file is shown as Markdown, with its links.
func isMarkdown(name string) bool { return strings.EqualFold(path.Ext(name), ".md") }

// preview is a file as the page shows it.
type preview struct {
	Name  string
	Kind  string // "image", "table", "document", "markdown", "text", "none"
	Size  int
	Table table
	Text  string
	Lang  string
	Cut   bool
}

func (p *Page) viewFile(w http.ResponseWriter, r *http.Request, v *visit) error {
	name, query := r.PathValue("name"), ""
	if isMarkdown(name) {
		query = "?tokenized=true" // a link must not bring values out
	}
	data, kind, err := v.readFile(r.Context(), name, query, maxPreview+1)
	if err != nil {
		return err
	}
	p.render(w, http.StatusOK, "preview", previewOf(name, kind, data))
	return nil
}

func previewOf(name, kind string, data []byte) preview {
	view := preview{Name: name, Kind: "text", Size: len(data), Cut: len(data) > maxPreview}
	text := strings.ToValidUTF8(string(data[:min(len(data), maxPreview)]), "\uFFFD")
	switch ext := strings.ToLower(path.Ext(name)); {
	case slices.Contains(pictures, kind):
		view.Kind = "image"
	case ext == ".html" || ext == ".htm":
		view.Kind = "document"
	case ext == ".csv" || ext == ".tsv":
		view.table(tableOfCSV(text, ext))
	case ext == ".json":
		view.table(tableOfJSON([]byte(text)))
		view.Lang, text = "json", pretty([]byte(text))
	case isMarkdown(name):
		view.Kind = "markdown"
	case !isText(kind, text):
		view.Kind = "none"
	}
	if view.Kind == "text" || view.Kind == "markdown" {
		view.Text = text
	}
	if view.Kind == "text" && view.Lang == "" {
		view.Lang = strings.TrimPrefix(path.Ext(name), ".")
	}
	return view
}

func (v *preview) table(t table, ok bool) {
	if ok {
		v.Kind, v.Table = "table", t
	}
}

func isText(kind, text string) bool {
	return strings.HasPrefix(kind, "text/") || kind == "application/json" || !strings.ContainsAny(text, "\x00\uFFFD")
}
