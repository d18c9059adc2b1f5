package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// chat is one session as the list of chats shows it.
type chat struct {
	Session string
	Title   string
	Status  string // of its newest task
	Last    time.Time
}

// Working reports whether its newest task has not ended.
func (c chat) Working() bool {
	return c.Status == "queued" || c.Status == "running" || c.Status == "awaiting_approval"
}

// maxTitle bounds a title in the list, in characters.
const maxTitle = 80

// chatsOf groups tasks, the newest first, by their session.
func chatsOf(tasks []task) []chat {
	list := []chat{}
	place := map[string]int{}
	for _, t := range tasks {
		at, known := place[t.Session]
		if !known {
			at = len(list)
			place[t.Session] = at
			list = append(list, chat{Session: t.Session, Status: t.Status, Last: t.Created})
		}
		title, _, _ := strings.Cut(strings.TrimSpace(t.Task), "\n") // the oldest task's wins
		if t.Title != "" {
			title = t.Title
		}
		if title != "" {
			list[at].Title = title
		}
	}
	for i := range list {
		if runes := []rune(list[i].Title); len(runes) > maxTitle {
			list[i].Title = string(runes[:maxTitle-1]) + "…"
		}
		if list[i].Title == "" {
			list[i].Title = "New chat"
		}
	}
	return list
}

// example is a task that works without a model, with what airlock ships.
type example struct{ Title, Task string }

var examples = []example{
	{"Sales report", "Analyze the latest sales data and create a summary report"},
	{"Best customers", "Who are our best customers?"},
	{"Monthly trend", "Show the monthly revenue trend"},
	{"Data quality", "Check the data for quality problems"},
}

func (p *Page) showStart(w http.ResponseWriter, r *http.Request, v *visit) error {
	p.render(w, http.StatusOK, "start", p.frame(r, v, frame{Title: "New chat", Here: "chat", Content: examples}))
	return nil
}

// maxTurns is how many turns of a chat are shown, its last ones.
const maxTurns = 30

type chatContent struct {
	Title   string
	Turns   []*turn
	Earlier int // turns that are not shown
}

func (p *Page) showChat(w http.ResponseWriter, r *http.Request, v *visit) error {
	tasks, err := v.tasks(r.Context())
	if err != nil {
		return err
	}
	session, history := r.PathValue("session"), chatsOf(tasks)
	at := slices.IndexFunc(history, func(c chat) bool { return c.Session == session })
	if at < 0 {
		return &problem{Status: http.StatusNotFound, Message: "There is no such chat.", Hint: "It may have been deleted, or it is another user's."}
	}
	tasks = slices.DeleteFunc(tasks, func(t task) bool { return t.Session != session })
	content := chatContent{Title: history[at].Title, Earlier: max(0, len(tasks)-maxTurns)}
	for _, one := range slices.Backward(tasks[:min(len(tasks), maxTurns)]) {
		t, err := v.turnSoFar(r.Context(), one.ID)
		if err != nil {
			return err
		}
		content.Turns = append(content.Turns, t)
	}
	p.render(w, http.StatusOK, "chat", p.frame(r, v, frame{Title: content.Title, Here: "chat", Session: session, History: history, Content: content}))
	return nil
}

// turn begins a turn with what the API knows of its task.
func (v *visit) turn(ctx context.Context, id string) (*turn, error) {
	var t task
	if err := v.get(ctx, taskPath(id, ""), &t); err != nil {
		return nil, err
	}
	made := newTurn(t, v.about)
	made.Status = "queued" // the events tell the rest
	return made, nil
}

// turnSoFar has all events that there are.
func (v *visit) turnSoFar(ctx context.Context, id string) (*turn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, err := v.turn(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err := v.events(ctx, id, false)
	if err != nil {
		return nil, err
	}
	for e := range events {
		t.apply(e)
	}
	return t, nil
}

func (p *Page) showTurn(w http.ResponseWriter, r *http.Request, v *visit) error {
	t, err := v.turnSoFar(r.Context(), r.PathValue("task"))
	if err != nil {
		return err
	}
	p.render(w, http.StatusOK, "turn", t)
	return nil
}

// file comes with a task. The API looks into it.
type file struct {
	Name    string `json:"name"`
	Content string `json:"content"` // base64
}

// ask begins a task. The page then shows its turn, or opens the new chat.
func (p *Page) ask(w http.ResponseWriter, r *http.Request, v *visit) error {
	var body struct {
		Task    string `json:"task"`
		Session string `json:"session"`
		Files   []file `json:"files"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	request := struct {
		User    string `json:"userId"`
		Task    string `json:"task"`
		Session string `json:"sessionId,omitempty"`
		Files   []file `json:"files,omitempty"`
	}{v.about.User, body.Task, body.Session, body.Files}
	answer, err := v.open(r.Context(), http.MethodPost, "/task", request, "Prefer", "respond-async")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	id := taskOfLocation(answer.Header.Get("Location"))
	t, err := v.turnSoFar(r.Context(), id)
	if err != nil {
		return err
	}
	t.Task = body.Task // it may not have begun
	html, err := p.piece("turn", t)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]string{"task": t.ID, "session": t.Session, "html": html})
	return nil
}

// taskOfLocation reads the task's id from where the API says that it is.
func taskOfLocation(location string) string {
	path, _, _ := strings.Cut(location, "?")
	return strings.TrimPrefix(path, "/tasks/")
}

func (p *Page) cancel(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := v.send(r.Context(), http.MethodPost, taskPath(r.PathValue("task"), "/cancel"), nil, nil); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

func sessionPath(id string) string { return "/sessions/" + url.PathEscape(id) }

func (p *Page) renameChat(w http.ResponseWriter, r *http.Request, v *visit) error {
	var body struct {
		Title string `json:"title"`
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	request := map[string]string{"userId": v.about.User, "title": strings.TrimSpace(body.Title)}
	if err := v.send(r.Context(), http.MethodPatch, sessionPath(r.PathValue("session")), request, nil); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

func (p *Page) deleteChat(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := v.send(r.Context(), http.MethodDelete, sessionPath(r.PathValue("session")), nil, nil); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]string{"go": "/"})
	return nil
}
