package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
)

// The chat completions of OpenAI's API, with a whole task behind each. Fields that
// airlock has no use for are taken and ignored, as clients send many.

// modelName is what the agent itself is called among the models.
const modelName = "airlock"

// sessionHeader continues a session, and names it in answers.
const sessionHeader = "X-Airlock-Session"

type chatBody struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Stream   bool          `json:"stream"`
	Options  struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	User  string            `json:"user"`
	N     int               `json:"n"`
	Tools []json.RawMessage `json:"tools"`
}

type chatMessage struct {
	Role    string      `json:"role"`
	Content chatContent `json:"content"`
}

// chatContent is the text of a message, which comes as a string or in parts.
type chatContent struct {
	text  string
	other string // the type of a part that is no text
}

type chatPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *chatContent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if json.Unmarshal(data, &c.text) == nil {
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("read a message's content: %w", err)
	}
	var text []string
	for _, raw := range parts {
		var p chatPart
		if err := checkNames(raw, reflect.TypeOf(p), false); err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("read a part of a message: %w", err)
		}
		if p.Type == "text" {
			text = append(text, p.Text)
		} else if c.other == "" {
			c.other = p.Type
		}
	}
	c.text = strings.Join(text, "\n")
	return nil
}

// request is the task that a chat asks for. A session that goes on knows what was
// said before: then only the last message counts.
func (b *chatBody) request(user ident.User, session ident.Session) (r orchestrator.TaskRequest, err error) {
	switch {
	case len(b.Messages) == 0:
		return r, badBody("messages is empty")
	case b.N > 1:
		return r, badBody("n must be 1")
	case len(b.Tools) > 0:
		return r, problem{fiber.StatusBadRequest, "unsupported_tools", "tools of the caller cannot be called", "add their MCP server to catalog.json, and leave out tools"}
	}
	for i, m := range b.Messages {
		if m.Content.other != "" {
			return r, problem{fiber.StatusBadRequest, "unsupported_content", fmt.Sprintf("message %d has content of the type %q", i+1, brief(m.Content.other)), "send text only"}
		}
	}
	last := b.Messages[len(b.Messages)-1]
	if last.Role != "user" {
		return r, badBody("the last message must be the user's")
	}
	r = orchestrator.TaskRequest{User: user, Session: session, Text: pii.NewRaw(last.Content.text)}
	if session != "" {
		return r, nil
	}
	for _, m := range b.Messages[:len(b.Messages)-1] {
		said := orchestrator.Said{ByAgent: m.Role == "assistant", Text: pii.NewRaw(m.Content.text)}
		switch {
		case m.Role == "tool" || m.Role == "function" || m.Content.text == "":
			continue // of tools that are not ours
		case m.Role == "system" || m.Role == "developer":
			said.Text = pii.NewRaw("Instructions of the application:\n" + m.Content.text)
		}
		r.History = append(r.History, said)
	}
	return r, nil
}

// postChat answers a chat by working on a task.
func (s *Server) postChat(c *fiber.Ctx) error {
	var body chatBody
	if err := checkNames(c.BodyRaw(), reflect.TypeOf(body), false); err != nil {
		return err
	}
	if err := json.Unmarshal(c.BodyRaw(), &body); err != nil {
		return badBody("the body is not the JSON of a chat completion")
	}
	model := cmp.Or(body.Model, modelName)
	user, err := user(c, cmp.Or(body.User, localOf(c)))
	if err != nil {
		return err
	}
	request, err := body.request(user, ident.Session(c.Get(sessionHeader)))
	if err != nil {
		return err
	}
	if model != modelName {
		request.Model = model
	}
	chat, err := s.openChat(c, request)
	if errors.Is(err, orchestrator.ErrModel) {
		return problem{fiber.StatusNotFound, "model_not_found", err.Error(), "GET /v1/models lists them"}
	}
	if err != nil {
		return err
	}
	chat.model, chat.usage = model, body.Options.IncludeUsage
	chat.base = cmp.Or(s.opts.PublicURL, "http://"+hostOf(c))
	chat.real = callerOf(c).Rights.Reveal
	c.Set(sessionHeader, string(chat.session))
	if body.Stream {
		return chat.stream(c)
	}
	return chat.answer(c)
}

// openChat begins the task of a chat, or finds the one that an earlier try of the
// same request has begun.
func (s *Server) openChat(c *fiber.Ctx, request orchestrator.TaskRequest) (*chat, error) {
	try := s.tries.find(request.User, request.Session, c.BodyRaw(), c.Get("X-Stainless-Retry-Count"))
	if try == nil {
		if err := s.allow(c, request.User); err != nil {
			return nil, err
		}
		id, err := s.opts.Service.Submit(s.ctx, request)
		if err != nil {
			return nil, err
		}
		try = s.tries.begin(request.User, request.Session, c.BodyRaw(), id)
	}
	task, err := s.opts.Service.Task(request.User, try.task)
	if err != nil {
		s.tries.end(try)
		return nil, err
	}
	return &chat{server: s, try: try, user: request.User, id: task.ID, session: task.Session, created: task.Created.Unix()}, nil
}

// listModels answers GET /v1/models.
func (s *Server) listModels(c *fiber.Ctx) error {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := []model{}
	for _, name := range append([]string{modelName}, s.opts.Models...) {
		list = append(list, model{ID: name, Object: "model", OwnedBy: modelName})
	}
	return c.JSON(fiber.Map{"object": "list", "data": list})
}
