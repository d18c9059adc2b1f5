package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
)

type taskBody struct {
	UserID    string     `json:"userId"`
	Task      string     `json:"task"`
	SessionID string     `json:"sessionId"`
	Model     string     `json:"model"`
	MaxTurns  int        `json:"maxTurns"`
	TimeoutMs int64      `json:"timeoutMs"`
	Files     []taskFile `json:"files"`
}

type taskFile struct {
	Name    string `json:"name"`
	Content []byte `json:"content"` // base64 in JSON
}

// maxTitle is how much of a task's text lists show, in bytes.
const maxTitle = 200

// maxKey bounds an Idempotency-Key.
const maxKey = 255

func (b *taskBody) uploads() (files []orchestrator.Upload) {
	for _, f := range b.Files {
		files = append(files, orchestrator.Upload{Name: f.Name, Data: f.Content})
	}
	return files
}

func decodeTask(c *fiber.Ctx) (body taskBody, err error) {
	if isForm(c) {
		return body, decodeForm(c, &body)
	}
	return body, decode(c, &body)
}

// repeatOf is what lets a request be sent again. What counts is what it says: the same
// form has another boundary each time.
func repeatOf(c *fiber.Ctx, body taskBody) (r orchestrator.Repeat, err error) {
	r.Key = c.Get("Idempotency-Key")
	if len(r.Key) > maxKey {
		return r, badBody(fmt.Sprintf("the header Idempotency-Key may have %d bytes", maxKey))
	}
	if r.Key == "" {
		return r, nil
	}
	said, err := json.Marshal(body)
	if err != nil {
		return r, fmt.Errorf("put a task into JSON: %w", err)
	}
	r.Digest = sha256.Sum256(said)
	return r, nil
}

// postTask takes a task in and, unless asked to answer at once, follows it to
// its end.
func (s *Server) postTask(c *fiber.Ctx) error {
	body, err := decodeTask(c)
	if err != nil {
		return err
	}
	user, err := user(c, body.UserID)
	if err != nil {
		return err
	}
	timeout, err := milliseconds("timeoutMs", body.TimeoutMs)
	if err != nil {
		return err
	}
	repeat, err := repeatOf(c, body)
	if err != nil {
		return err
	}
	if err := s.allow(c, user); err != nil {
		return err
	}
	id, err := s.opts.Service.Submit(s.ctx, orchestrator.TaskRequest{
		User: user, Session: ident.Session(body.SessionID), Text: pii.NewRaw(body.Task), Model: body.Model,
		MaxTurns: body.MaxTurns, Timeout: timeout, Files: body.uploads(),
		Repeat: repeat,
	})
	if err != nil {
		return err
	}
	c.Location("/tasks/" + string(id) + "?userId=" + string(user))
	if c.Get(fiber.HeaderAccept) == eventStream {
		return s.streamEvents(c, user, id, 0)
	}
	if c.Get("Prefer") == "respond-async" {
		return c.Status(fiber.StatusAccepted).JSON(fiber.Map{"taskId": id, "status": orchestrator.StatusQueued})
	}
	task, err := s.wait(s.ctx, user, id)
	if err != nil {
		return err
	}
	return s.answerTask(c, task)
}

// wait waits for the end of a task that was begun here. That it goes on elsewhere is no
// reason to send there the request that began it.
func (s *Server) wait(ctx context.Context, user ident.User, id ident.Task) (orchestrator.Task, error) {
	task, err := s.opts.Service.Wait(ctx, user, id)
	switch elsewhere := (*orchestrator.ElsewhereError)(nil); {
	case context.Cause(ctx) != nil:
		return task, orchestrator.ErrClosed
	case errors.As(err, &elsewhere):
		return task, orchestrator.ErrMoved
	}
	return task, err
}

func (s *Server) answerTask(c *fiber.Ctx, t orchestrator.Task) error {
	view, err := presentTask(t, callerOf(c).Rights.Reveal)
	if err != nil {
		return err
	}
	return c.JSON(view)
}

func (s *Server) getTask(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	task, err := s.opts.Service.Task(user, ident.Task(c.Params("id")))
	if err != nil {
		return err
	}
	return s.answerTask(c, task)
}

func (s *Server) listTasks(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	type line struct {
		TaskID    ident.Task          `json:"taskId"`
		SessionID ident.Session       `json:"sessionId"`
		Status    orchestrator.Status `json:"status"`
		Task      string              `json:"task"`
		Title     string              `json:"title,omitempty"`
		Usage     usageView           `json:"usage"`
		Created   time.Time           `json:"created"`
		Finished  time.Time           `json:"finished,omitzero"`
	}
	list, show := []line{}, textAs(callerOf(c).Rights.Reveal)
	tasks, err := s.opts.Service.Tasks(user)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		text, err := show(t.Vault, pii.Cut(t.Text, maxTitle))
		if err != nil {
			return err
		}
		title, err := show(t.Vault, t.Title)
		if err != nil {
			return err
		}
		list = append(list, line{t.ID, t.Session, t.Status, text, title, usageView(t.Usage), t.Created, t.Finished})
	}
	return c.JSON(fiber.Map{"tasks": list, "count": len(list)})
}

func (s *Server) cancelTask(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	id := ident.Task(c.Params("id"))
	if err := s.opts.Service.Cancel(user, id); err != nil {
		return err
	}
	task, err := s.wait(s.ctx, user, id)
	if err != nil {
		return err
	}
	return s.answerTask(c, task)
}
