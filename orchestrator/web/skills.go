package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

type skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Path        string   `json:"path"`
	Scope       string   `json:"scope"`
	Content     string   `json:"content"`
	Number      int      `json:"number"`
	Stale       []string `json:"stale"`
	Runs        *struct {
		Count  int `json:"count"`
		Failed int `json:"failed"`
	} `json:"runs"`

	Versions []version `json:"-"` // the newest first
	// MayChange says that the visitor may roll the skill back and delete it, MayPromote
	// that they may share it. The API decides again.
	MayChange, MayPromote bool `json:"-"`
}

// version is one that was saved.
type version struct {
	Number  int       `json:"number"`
	At      time.Time `json:"at"`
	How     string    `json:"how"`
	From    int       `json:"from"`
	Session string    `json:"session"`
	Task    string    `json:"task"`

	Current   bool `json:"-"`
	HasBefore bool `json:"-"` // the version before it is kept, or there was none
}

// Said says how a version was saved, as people do.
func (v version) Said() string {
	switch v.How {
	case "script":
		return "saved by a script"
	case "upload":
		return "uploaded"
	case "rollback":
		return "version " + strconv.Itoa(v.From) + " again"
	case "promotion":
		return "promoted"
	default:
		return v.How
	}
}

// Link is where the page shows the skill.
func (k skill) Link() string { return "/ui/skills/" + url.PathEscape(k.ID) }

func skillPath(id, rest string) string { return "/skills/" + url.PathEscape(id) + rest }

func (p *Page) showSkills(w http.ResponseWriter, r *http.Request, v *visit) error {
	var list struct {
		Skills []skill `json:"skills"`
	}
	if err := v.get(r.Context(), "/skills", &list); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "skills", p.frame(r, v, frame{Title: "Skills", Here: "skills", Content: list.Skills}))
	return nil
}

func (p *Page) showSkill(w http.ResponseWriter, r *http.Request, v *visit) error {
	var one skill
	if err := v.get(r.Context(), skillPath(r.PathValue("name"), ""), &one); err != nil {
		return err
	}
	if one.Scope != "library" {
		var err error
		if one.Versions, err = v.versions(r, one.ID); err != nil {
			return err
		}
		// What is shared is the operator's, who is told apart from nobody where nobody
		// signs in.
		operator := !p.opts.SignIn
		one.MayChange = one.Scope == "user" || operator
		one.MayPromote = one.Scope == "user" && operator
	}
	p.render(w, http.StatusOK, "skill", p.frame(r, v, frame{Title: one.Name, Here: "skills", Content: one}))
	return nil
}

// versions are those of a skill that are kept: none of what the operator shared by hand.
func (v *visit) versions(r *http.Request, id string) ([]version, error) {
	var list struct {
		Versions []version `json:"versions"`
	}
	var told *problem
	err := v.get(r.Context(), skillPath(id, "/history"), &list)
	if errors.As(err, &told) && told.Status == http.StatusNotFound {
		return nil, nil
	}
	for i := range list.Versions {
		one := &list.Versions[i]
		one.Current = i == len(list.Versions)-1
		one.HasBefore = i > 0 || one.Number == 1
	}
	slices.Reverse(list.Versions)
	return list.Versions, err
}

// difference is what a version, or a promotion, changes.
type difference struct {
	Files []struct {
		File string `json:"file"`
		Diff string `json:"diff"`
	} `json:"files"`
	Hash   string `json:"hash"`   // of a promotion
	Number int    `json:"number"` // of the version

	ID string `json:"-"`
}

func (p *Page) showDiff(w http.ResponseWriter, r *http.Request, v *visit) error {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		return &problem{Status: http.StatusNotFound, Message: "There is no such version.", Hint: "The skill's history lists those that are kept."}
	}
	view := difference{ID: r.PathValue("name"), Number: number}
	if err := v.get(r.Context(), skillPath(view.ID, "/diff?to="+strconv.Itoa(number)), &view); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "skill-diff", view)
	return nil
}

// showReview shows what a promotion would change, without which there is none.
func (p *Page) showReview(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := difference{ID: r.PathValue("name")}
	if err := v.get(r.Context(), skillPath(view.ID, "/review"), &view); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "skill-review", view)
	return nil
}

func (p *Page) promoteSkill(w http.ResponseWriter, r *http.Request, v *visit) error {
	var body struct {
		Hash string `json:"hash"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	var shared skill
	request := map[string]string{"userId": v.about.User, "hash": body.Hash}
	if err := v.send(r.Context(), http.MethodPost, skillPath(r.PathValue("name"), "/promote"), request, &shared); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]string{"go": shared.Link()})
	return nil
}

func (p *Page) rollbackSkill(w http.ResponseWriter, r *http.Request, v *visit) error {
	var body struct {
		Number int `json:"number"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	request := map[string]any{"userId": v.about.User, "number": body.Number}
	if err := v.send(r.Context(), http.MethodPost, skillPath(r.PathValue("name"), "/rollback"), request, nil); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

func (p *Page) deleteSkill(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := v.send(r.Context(), http.MethodDelete, skillPath(r.PathValue("name"), ""), nil, nil); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]string{"go": "/ui/skills"})
	return nil
}

// Document reports whether the skill's text is Markdown, without its front matter.
func (k skill) Document() (text string, is bool) {
	if !strings.HasSuffix(strings.ToLower(k.Path), ".md") && !strings.HasPrefix(k.Content, "---\n") {
		return "", false
	}
	if rest, front := strings.CutPrefix(k.Content, "---\n"); front {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			return body, true
		}
	}
	return k.Content, true
}

// Text is Document without its second result, as templates take it.
func (k skill) Text() string { text, _ := k.Document(); return text }

// IsDocument is Document's second result.
func (k skill) IsDocument() bool { _, is := k.Document(); return is }

// Language is that of a skill that is one file of code.
func (k skill) Language() string {
	if strings.HasSuffix(k.Path, ".py") {
		return "python"
	}
	return "javascript"
}
