package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	sessionCookie = "airlock_session"
	// sessionTime is how long a sign-in holds. A revoked key ends it at once, since each
	// request is checked by the API.
	sessionTime = 12 * time.Hour
)

// cookies keep a visitor's credential, sealed, so that neither a script in the page nor
// a file of the browser holds it in clear.
type cookies struct{ aead cipher.AEAD }

type sealedSession struct {
	Credential string    `json:"c"`
	Ends       time.Time `json:"e"`
}

func newCookies(key []byte) (cookies, error) {
	if len(key) != sha256.Size {
		return cookies{}, fmt.Errorf("web: the sealing key has %d bytes, must have %d", len(key), sha256.Size)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return cookies{}, fmt.Errorf("web: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return cookies{}, fmt.Errorf("web: %w", err)
	}
	return cookies{aead}, nil
}

func (k cookies) seal(credential string, ends time.Time) (string, error) {
	text, err := json.Marshal(sealedSession{credential, ends})
	if err != nil {
		return "", fmt.Errorf("seal a session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(nil, nil, text, []byte(sessionCookie))), nil
}

// credential is what the visitor signed in with, "" without a good cookie.
func (k cookies) credential(r *http.Request) string {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return ""
	}
	text, err := k.aead.Open(nil, nil, sealed, []byte(sessionCookie))
	var s sealedSession
	if err != nil || json.Unmarshal(text, &s) != nil || time.Now().After(s.Ends) {
		return ""
	}
	return s.Credential
}

// Credential is what the visitor who sends a Cookie header signed in with, "" if nobody
// did.
func (p *Page) Credential(cookie string) string {
	return p.cookies.credential(&http.Request{Header: http.Header{"Cookie": {cookie}}})
}

func (p *Page) showSignIn(w http.ResponseWriter, r *http.Request) {
	if !p.opts.SignIn {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	query := r.URL.Query()
	content := struct {
		Back  string
		Ended bool
	}{backTo(query.Get("back")), query.Has("ended")}
	p.render(w, http.StatusOK, "signin", frame{Title: "Sign in", Theme: themeOf(r), Content: content})
}

// signInFor is the address to sign in at, for who wanted to see a page.
func signInFor(r *http.Request) string {
	if back := backTo(r.URL.RequestURI()); back != "/" {
		return "/ui/signin?back=" + url.QueryEscape(back)
	}
	return "/ui/signin"
}

// backTo is where a visitor goes after signing in: a page of ours, whatever is asked for.
func backTo(asked string) string {
	if strings.HasPrefix(asked, "/ui/") && !strings.HasPrefix(asked, "/ui/signin") {
		return asked
	}
	return "/"
}

// maxCredential bounds what is taken for a key or token: a cookie holds 4 KB.
const maxCredential = 2800

func (p *Page) signIn(w http.ResponseWriter, r *http.Request) {
	if err := p.tryCredential(w, r); err != nil {
		p.fail(w, r, nil, err)
	}
}

func (p *Page) tryCredential(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Credential string `json:"credential"`
		Back       string `json:"back"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	credential := strings.TrimSpace(body.Credential)
	if credential == "" || len(credential) > maxCredential || strings.ContainsAny(credential, "\r\n") {
		return &problem{Status: http.StatusBadRequest, Message: "That is no key and no token.", Hint: "Paste it whole: a key begins with alk_, a token has two dots."}
	}
	var who about
	if err := (caller{page: p, credential: credential}).get(r.Context(), "/about", &who); err != nil {
		return err
	}
	value, err := p.cookies.seal(credential, time.Now().Add(sessionTime))
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: int(sessionTime.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	})
	writeJSON(w, http.StatusOK, map[string]string{"go": backTo(body.Back)})
	return nil
}

func (p *Page) signOut(w http.ResponseWriter, _ *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	writeJSON(w, http.StatusOK, map[string]string{"go": "/ui/signin"})
}
