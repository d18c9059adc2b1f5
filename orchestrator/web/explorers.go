package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// showTasks is the monitor: what runs, what waits, what it cost.
func (p *Page) showTasks(w http.ResponseWriter, r *http.Request, v *visit) error {
	tasks, err := v.tasks(r.Context())
	if err != nil {
		return err
	}
	var content struct {
		Tasks           []*turn
		Running, Queued int
		Usage           usage
	}
	for _, t := range tasks {
		content.Usage.InputTokens += t.Usage.InputTokens
		content.Usage.OutputTokens += t.Usage.OutputTokens
		switch t.Status {
		case "queued":
			content.Queued++
		case "running", "awaiting_approval":
			content.Running++
		}
		content.Tasks = append(content.Tasks, newTurn(t, v.about))
	}
	p.render(w, http.StatusOK, "tasks", p.frame(r, v, frame{Title: "Tasks", Here: "tasks", History: chatsOf(tasks), Content: content}))
	return nil
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Signature    string          `json:"signature"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Fits         *bool           `json:"fits"`
}

// Server is the part of the name before the tool's own.
func (t tool) Server() string { server, _, _ := strings.Cut(t.Name, "__"); return server }

// Guess reports whether a search is not sure that the tool fits.
func (t tool) Guess() bool { return t.Fits != nil && !*t.Fits }

// maxTools is how many tools are listed at once; a search finds the others.
const maxTools = "100"

func (p *Page) showTools(w http.ResponseWriter, r *http.Request, v *visit) error {
	var content struct {
		Servers []struct {
			Server    string `json:"server"`
			Transport string `json:"transport"`
			State     string `json:"state"`
			Tools     int    `json:"tools"`
		} `json:"servers"`
		Tools []tool `json:"tools"`
		Total int    `json:"total"`
		Query string `json:"-"`
	}
	content.Query = r.URL.Query().Get("q")
	query := url.Values{"detail": {"summary"}, "limit": {maxTools}}
	if content.Query != "" {
		query.Set("query", content.Query)
	}
	if err := v.get(r.Context(), "/tools?"+query.Encode(), &content); err != nil {
		return err
	}
	if err := v.get(r.Context(), "/servers", &content); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "tools", p.frame(r, v, frame{Title: "Tools", Here: "tools", Content: content}))
	return nil
}

func (p *Page) showTool(w http.ResponseWriter, r *http.Request, v *visit) error {
	var one tool
	if err := v.get(r.Context(), "/tools/"+url.PathEscape(r.PathValue("name")), &one); err != nil {
		return err
	}
	p.render(w, http.StatusOK, "tool", p.frame(r, v, frame{Title: one.Name, Here: "tools", Content: one}))
	return nil
}

// tryTool calls a tool as a script would, so that scope, limits and policy count.
func (p *Page) tryTool(w http.ResponseWriter, r *http.Request, v *visit) error {
	var body struct {
		Arguments string `json:"arguments"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if !json.Valid([]byte(body.Arguments)) {
		return &problem{Status: http.StatusBadRequest, Message: "The arguments are not valid JSON.", Hint: `Write an object such as {"query": "SELECT 1"}.`}
	}
	name, err := json.Marshal(r.PathValue("name"))
	if err != nil {
		return err
	}
	request := map[string]any{"userId": v.about.User, "language": "javascript", "code": "return await callMCPTool(" + string(name) + ", " + body.Arguments + ")"}
	var out struct {
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
			Hint    string `json:"hint"`
		} `json:"error"`
		DurationMs int64 `json:"durationMs"`
	}
	if err := v.send(r.Context(), http.MethodPost, "/execute", request, &out); err != nil {
		return err
	}
	text := pretty(out.Result)
	if out.Error != nil {
		text = strings.TrimSpace(out.Error.Message + "\n" + out.Error.Hint)
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": out.Status, "text": text, "durationMs": out.DurationMs})
	return nil
}
