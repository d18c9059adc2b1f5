package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// privacy is what the API tells of a task's personal values.
type privacy struct {
	Protected []struct {
		Type  string `json:"type"`
		Count int    `json:"count"`
		New   int    `json:"new"`
	} `json:"protected"`
	Releases []passed `json:"releases"`
	Refusals []passed `json:"refusals"`

	Task      string `json:"-"`
	CanReveal bool   `json:"-"`
	Open      bool   `json:"-"` // scripts see values
}

// passed are calls that gave values to a server, or were refused.
type passed struct {
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Types   []string        `json:"types"`
	Origins []string        `json:"origins"`
	Policy  json.RawMessage `json:"policy"`
	Calls   int             `json:"calls"`
}

// From says where the values came from.
func (g passed) From() string {
	var words []string
	for _, o := range g.Origins {
		switch name, server := strings.CutPrefix(o, "server:"); {
		case server:
			words = append(words, name)
		case o == "user":
			words = append(words, "you")
		default:
			words = append(words, "the script")
		}
	}
	return strings.Join(words, ", ")
}

// Why says which rule decided.
func (g passed) Why() string {
	var mode string
	if json.Unmarshal(g.Policy, &mode) != nil {
		var types []string
		_ = json.Unmarshal(g.Policy, &types) // what is no list is no rule either
		return "the catalog allows it " + strings.Join(types, ", ")
	}
	switch mode {
	case "all":
		return "the catalog allows it all values"
	case "none":
		return "the catalog allows it no values"
	default:
		return "a server may have what it sent itself, and what you typed"
	}
}

func (p *Page) showPrivacy(w http.ResponseWriter, r *http.Request, v *visit) error {
	view := privacy{Task: r.PathValue("task"), CanReveal: v.about.Rights.Reveal, Open: v.about.PIIMode == "open"}
	if err := v.get(r.Context(), taskPath(view.Task, "/privacy"), &view); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "privacy", view)
	return nil
}

// showValues shows the values of one type, to who may see them and asked for it.
func (p *Page) showValues(w http.ResponseWriter, r *http.Request, v *visit) error {
	var view struct {
		Type   string `json:"type"`
		Total  int    `json:"total"`
		Values []struct {
			Token string `json:"token"`
			Value string `json:"value"`
		} `json:"values"`
	}
	path := taskPath(r.PathValue("task"), "/privacy/values?type="+url.QueryEscape(r.PathValue("type")))
	if err := v.get(r.Context(), path, &view); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "values", view)
	return nil
}
