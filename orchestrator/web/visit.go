package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"go.uber.org/zap"
)

// visit is one request of somebody who may be here.
type visit struct {
	caller
	about about
	theme string
}

// handler answers a visit. Its errors are shown as an error page, or as JSON to the
// page's own script.
type handler func(w http.ResponseWriter, r *http.Request, v *visit) error

// forVisitors finds out who looks, and sends others to sign in.
func (p *Page) forVisitors(handle handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{caller: caller{page: p, credential: p.cookies.credential(r)}, theme: themeOf(r)}
		err := v.get(r.Context(), "/about", &v.about)
		if err == nil {
			err = handle(w, r, v)
		}
		if err != nil {
			p.fail(w, r, v, err)
		}
	})
}

// problem is an error in the words of its reader.
type problem struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (e *problem) Error() string { return e.Message }

func (p *Page) fail(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	var told *problem
	if !errors.As(err, &told) {
		if r.Context().Err() == nil {
			p.opts.Log.Error("the web page failed", zap.String("route", r.Pattern), zap.Error(err))
		}
		told = &problem{Status: http.StatusInternalServerError, Message: "Something went wrong here.", Hint: "The server's log tells more."}
	}
	switch {
	case wantsJSON(r):
		writeJSON(w, told.Status, map[string]*problem{"error": told})
	case told.Status == http.StatusUnauthorized:
		http.Redirect(w, r, signInFor(r), http.StatusSeeOther)
	default:
		if v == nil {
			v = &visit{theme: themeOf(r)}
		}
		p.render(w, told.Status, "error", p.frame(r, v, frame{Title: "Not so", Problem: told}))
	}
}

// wantsJSON tells the page's script from a person who follows a link.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return r.Method != http.MethodGet || strings.Contains(accept, "application/json") || accept == "text/event-stream"
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the reader may be gone
}

// maxBody bounds what the page's script sends, in bytes: as much as the API takes.
const maxBody = 8 << 20

// readJSON takes JSON by that name only, which no form of another page can send.
func readJSON(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &problem{Status: http.StatusUnsupportedMediaType, Message: "The page sent something that is not JSON.", Hint: "Reload it and try again."}
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(into); err != nil {
		return &problem{Status: http.StatusBadRequest, Message: "The page sent something that cannot be read.", Hint: "Reload it and try again."}
	}
	return nil
}

// themeOf is the colour scheme that the visitor chose, "" for the system's.
func themeOf(r *http.Request) string {
	c, err := r.Cookie("airlock_theme")
	if err != nil || c.Value != "light" && c.Value != "dark" {
		return ""
	}
	return c.Value
}

// frame is what all pages show around their own content.
type frame struct {
	Title   string
	Here    string // the entry of the menu
	Theme   string
	About   about
	SignIn  bool
	Session string // the chat that is open
	History []chat
	Problem *problem
	Content any
}

// frame fills in what is the same for all pages. A list that cannot be had is left
// out: the page itself says what is wrong.
func (p *Page) frame(r *http.Request, v *visit, f frame) frame {
	f.Theme, f.About, f.SignIn = v.theme, v.about, p.opts.SignIn
	if f.History == nil && v.about.User != "" {
		if tasks, err := v.tasks(r.Context()); err == nil {
			f.History = chatsOf(tasks)
		}
	}
	return f
}

// render writes one template, whole or not at all.
func (p *Page) render(w http.ResponseWriter, status int, name string, data any) {
	var b strings.Builder
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		p.opts.Log.Error("the web page failed", zap.String("template", name), zap.Error(err))
		http.Error(w, "Something went wrong here; the server's log tells more.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, b.String())
}

// piece renders a template into a string, for what the script puts into the page.
func (p *Page) piece(name string, data any) (string, error) {
	var b strings.Builder
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return b.String(), nil
}
