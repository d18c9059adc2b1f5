// Package web is airlock's web page: people ask, watch the agent work, look at what
// it made, answer its questions, and check what was kept from the model.
//
// The page is a client of the public API (package api) like any other program: each
// thing that it shows, it asks for with the credential of the person who looks, and the
// API decides. This package opens no personal data by itself and cannot, as it does not
// import pii/reveal.
//
// Pages are rendered here, on the server, by html/template. What a model wrote passes
// goldmark and then bluemonday (markdown.go); everything else from outside (tool
// results, file names, output, code) is text to the templates and never markup. What
// happens in a task arrives as patches of the same templates (stream.go), so that a page
// that was watched and one that was reloaded are the same. The policy of content lets
// no script and no style run but the two files in static/.
//
// New makes an http.Handler that may be used concurrently and keeps nothing of its
// visitors: who they are is in their cookie, sealed.
package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"

	"go.uber.org/zap"
)

// Options are what a Page is made of. All but Log are required.
type Options struct {
	// API reaches the public API at BaseURL.
	API     *http.Client
	BaseURL string
	// Key seals cookies: 32 random bytes that stay the same from start to start.
	Key []byte
	// SignIn says that visitors need a credential: an API key or a token.
	SignIn bool
	Log    *zap.Logger
}

// Page answers "/" and all below "/ui/".
type Page struct {
	opts      Options
	mux       *http.ServeMux
	templates *template.Template
	cookies   cookies
	markdown  *markdown
	static    assets
}

// New makes the page.
func New(o Options) (*Page, error) {
	if o.API == nil || o.BaseURL == "" {
		return nil, errors.New("web: API and BaseURL are required")
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	sealed, err := newCookies(o.Key)
	if err != nil {
		return nil, err
	}
	static, err := loadAssets()
	if err != nil {
		return nil, err
	}
	p := &Page{opts: o, cookies: sealed, markdown: newMarkdown(), static: static, mux: http.NewServeMux()}
	if p.templates, err = p.parseTemplates(); err != nil {
		return nil, fmt.Errorf("web: parse the templates: %w", err)
	}
	p.routes()
	return p, nil
}

func (p *Page) routes() {
	p.mux.Handle("GET "+staticPrefix, p.static)
	p.mux.HandleFunc("GET /ui/signin", p.showSignIn)
	p.mux.HandleFunc("POST /ui/signin", p.signIn)
	p.mux.HandleFunc("POST /ui/signout", p.signOut)
	for pattern, handle := range map[string]handler{
		"GET /{$}":                                   p.showStart,
		"GET /ui/chats/{session}":                    p.showChat,
		"PATCH /ui/chats/{session}":                  p.renameChat,
		"DELETE /ui/chats/{session}":                 p.deleteChat,
		"POST /ui/ask":                               p.ask,
		"GET /ui/tasks":                              p.showTasks,
		"GET /ui/tasks/{task}/turn":                  p.showTurn,
		"GET /ui/tasks/{task}/files.zip":             p.downloadTurn,
		"GET /ui/tasks/{task}/stream":                p.stream,
		"POST /ui/tasks/{task}/cancel":               p.cancel,
		"POST /ui/tasks/{task}/approvals/{id}":       p.decide,
		"GET /ui/tasks/{task}/approvals/{id}/values": p.showArguments,
		"GET /ui/tasks/{task}/privacy":               p.showPrivacy,
		"GET /ui/tasks/{task}/privacy/{type}":        p.showValues,
		"GET /ui/files":                              p.showFiles,
		"GET /ui/files.zip":                          p.downloadAll,
		"GET /ui/files/view/{name...}":               p.viewFile,
		"GET /ui/files/image/{name...}":              p.imageFile,
		"GET /ui/files/frame/{name...}":              p.frameFile,
		"GET /ui/files/download/{name...}":           p.downloadFile,
		"GET /ui/skills":                             p.showSkills,
		"GET /ui/skills/{name}":                      p.showSkill,
		"DELETE /ui/skills/{name}":                   p.deleteSkill,
		"GET /ui/skills/{name}/diff/{number}":        p.showDiff,
		"GET /ui/skills/{name}/review":               p.showReview,
		"POST /ui/skills/{name}/promote":             p.promoteSkill,
		"POST /ui/skills/{name}/rollback":            p.rollbackSkill,
		"GET /ui/tools":                              p.showTools,
		"GET /ui/tools/{name}":                       p.showTool,
		"POST /ui/tools/{name}":                      p.tryTool,
	} {
		p.mux.Handle(pattern, p.forVisitors(handle))
	}
	p.mux.Handle("/", p.forVisitors(func(http.ResponseWriter, *http.Request, *visit) error {
		return &problem{Status: http.StatusNotFound, Message: "There is no such page.", Hint: "The start page leads everywhere."}
	}))
}

// policy lets nothing in but our own two files, the API's pictures and frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types airlock"

// ServeHTTP answers one request. What changes something has to come from the page
// itself: beside the guards of package api, browsers say where a request is from.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if err := crossOrigin.Check(r); err != nil {
		p.fail(w, r, nil, &problem{Status: http.StatusForbidden, Message: "That request did not come from this page.", Hint: "Open airlock in a tab of its own and try again."})
		return
	}
	p.mux.ServeHTTP(w, r)
}

var crossOrigin = http.NewCrossOriginProtection()
