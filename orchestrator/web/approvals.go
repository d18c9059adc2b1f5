package web

import (
	"net/http"
	"net/url"
	"slices"
)

// decide answers a call that waits. What the task does next is told by its stream.
func (p *Page) decide(w http.ResponseWriter, r *http.Request, v *visit) error {
	var body struct {
		Decision string `json:"decision"`
		Scope    string `json:"scope"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	request := map[string]string{"userId": v.about.User, "decision": body.Decision}
	if body.Scope != "" {
		request["scope"] = body.Scope
	}
	path := taskPath(r.PathValue("task"), "/approvals/"+url.PathEscape(r.PathValue("id")))
	if err := v.send(r.Context(), http.MethodPost, path, request, nil); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

// showArguments gives the real arguments of a call that waits, once somebody asks for
// them: until then the page holds tokens.
func (p *Page) showArguments(w http.ResponseWriter, r *http.Request, v *visit) error {
	if !v.about.Rights.Reveal {
		return &problem{Status: http.StatusForbidden, Message: "Real values need the right reveal.", Hint: "Sign in with a key that has it."}
	}
	var t task
	if err := v.get(r.Context(), taskPath(r.PathValue("task"), ""), &t); err != nil {
		return err
	}
	at := slices.IndexFunc(t.Approvals, func(a approval) bool { return a.ID == r.PathValue("id") })
	if at < 0 {
		return &problem{Status: http.StatusNotFound, Message: "That call does not wait any more.", Hint: "Reload the page to see what became of it."}
	}
	writeJSON(w, http.StatusOK, map[string]string{"text": pretty(t.Approvals[at].Arguments)})
	return nil
}
