package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"
	"unicode"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator"
)

// chat is one answer to a chat completion.
type chat struct {
	server  *Server
	try     *try
	user    ident.User
	id      ident.Task
	session ident.Session
	created int64  // seconds since 1970
	model   string // as it was asked for
	usage   bool   // is told at the end of a stream
	base    string // URL of this server
	real    bool   // with real values in place of tokens
}

type chatChoice struct {
	Index        int       `json:"index"`
	Message      *chatSaid `json:"message,omitempty"`
	Delta        *chatSaid `json:"delta,omitempty"`
	FinishReason *string   `json:"finish_reason"`
}

type chatSaid struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// chatCompletion is an answer, or a part of one.
type chatCompletion struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
	// Airlock tells what OpenAI's API has no word for: events of the task, and at the
	// end the task.
	Airlock any `json:"airlock,omitempty"`
}

// chatTask is what is told of a task at its end.
type chatTask struct {
	TaskID    ident.Task          `json:"taskId"`
	SessionID ident.Session       `json:"sessionId"`
	Status    orchestrator.Status `json:"status"`
	Artifacts []artifactView      `json:"artifacts"`
}

func (c *chat) completion(object string, choices ...chatChoice) chatCompletion {
	return chatCompletion{ID: "chatcmpl-" + string(c.id), Object: object, Created: c.created, Model: c.model, Choices: append([]chatChoice{}, choices...)}
}

func usageOf(u orchestrator.Usage) *chatUsage {
	usage := &chatUsage{PromptTokens: u.InputTokens, CompletionTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens}
	usage.Details.CachedTokens = u.CachedTokens
	return usage
}

var finished = "stop"

// answer waits for the end of the task and answers with all of it.
func (c *chat) answer(f *fiber.Ctx) error {
	ctx, cancel := context.WithCancel(c.server.ctx)
	defer cancel()
	task, err := c.server.wait(ctx, c.user, c.id)
	if err != nil {
		c.server.tries.end(c.try)
		return err
	}
	if gone(f.Context().Conn()) {
		c.server.tries.broken(c.try) // who tries again gets the same task
	} else {
		c.server.tries.end(c.try)
	}
	view, err := presentTask(task, c.real)
	if err != nil {
		return err
	}
	if p := chatProblem(view); p != nil {
		return *p
	}
	whole := c.completion("chat.completion", chatChoice{
		Message: &chatSaid{Role: "assistant", Content: view.Message + c.links(task.Artifacts)}, FinishReason: &finished,
	})
	whole.Usage, whole.Airlock = usageOf(task.Usage), c.about(view)
	return f.JSON(whole)
}

func (c *chat) about(view taskView) chatTask {
	return chatTask{TaskID: view.TaskID, SessionID: view.SessionID, Status: view.Status, Artifacts: view.Artifacts}
}

// chatProblem says why a task has no answer; nil if it has one. Its status is one
// that clients do not take for a reason to try again: the task would cost as much.
func chatProblem(view taskView) *problem {
	switch {
	case view.Status == orchestrator.StatusCompleted:
		return nil
	case view.Error == nil:
		return &problem{fiber.StatusUnprocessableEntity, "task_cancelled", "the task was cancelled", "send the request again if it is still wanted"}
	default:
		return &problem{fiber.StatusUnprocessableEntity, view.Error.Code, view.Error.Message, view.Error.Hint}
	}
}

// links shows artifacts as Markdown, pictures as such, by the names that they are
// stored under: a name is a script's choice, so it stays tokenized, is no markup, and
// is read from the server that was asked.
func (c *chat) links(artifacts []orchestrator.Artifact) string {
	var out strings.Builder
	for _, a := range artifacts {
		mark, name := "", a.Name.String()
		if kind, _, err := mime.ParseMediaType(a.MIME); err == nil && strings.HasPrefix(kind, "image/") {
			mark = "!"
		}
		var path []string
		for part := range strings.SplitSeq(name, "/") {
			path = append(path, url.PathEscape(part))
		}
		fmt.Fprintf(&out, "\n\n%s[%s](%s/artifacts/%s/%s)", mark, plainMarkdown(name), c.base, url.PathEscape(string(c.user)), strings.Join(path, "/"))
	}
	return out.String()
}

// plainMarkdown writes a text so that Markdown takes nothing in it for a link, a tag,
// code, or the end of a paragraph.
func plainMarkdown(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case !unicode.IsPrint(r):
			r = ' '
		case strings.ContainsRune("\\[]<>`&", r):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// stream answers with what the model writes as it does.
func (c *chat) stream(f *fiber.Ctx) error {
	task, err := c.server.opts.Service.Task(c.user, c.id)
	if err != nil {
		c.server.tries.end(c.try)
		return err
	}
	s := &chatStream{chat: c, presenter: presenter{vault: task.Vault, real: c.real}}
	follow := &follower{server: c.server, user: c.user, id: c.id, conn: f.Context().Conn(), authorized: c.server.stillAuthorized(f), write: s.write}
	f.Set(fiber.HeaderContentType, eventStream)
	f.Set("X-Accel-Buffering", "no")
	log := c.server.log(f)
	f.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		if err := follow.follow(c.server.ctx, w); err != nil {
			c.server.tries.broken(c.try)
			log.Debug("a chat's stream ended early", zap.String("task", string(c.id)), zap.String("session", string(task.Session)), zap.Error(err))
			return
		}
		c.server.tries.end(c.try)
	})
	return nil
}

// chatStream puts events into chunks.
type chatStream struct {
	*chat
	presenter presenter
	begun     bool // the role was told
	said      bool // a turn has said something, and ended
}

// write is called with each event of the task.
func (s *chatStream) write(w *bufio.Writer, e orchestrator.Event) error {
	view, err := s.presenter.present(e)
	if err != nil {
		return err
	}
	switch {
	case e.Type == orchestrator.EventModelDelta:
		return s.delta(w, view.Data)
	case e.Type.Final():
		return s.end(w)
	}
	chunk := s.completion("chat.completion.chunk")
	chunk.Airlock = view
	return send(w, chunk)
}

// delta passes text on. What one turn says is set apart from what the next says; a
// turn that broke off cannot be taken back.
func (s *chatStream) delta(w *bufio.Writer, d eventDataView) error {
	text := d.Text
	if text != "" && s.said {
		text, s.said = "\n\n"+text, false
	}
	if d.Part != "" {
		s.said = true
	}
	if text == "" {
		return nil
	}
	return s.say(w, text)
}

func (s *chatStream) say(w *bufio.Writer, text string) error {
	said := &chatSaid{Content: text}
	if !s.begun {
		s.begun, said.Role = true, "assistant"
	}
	return send(w, s.completion("chat.completion.chunk", chatChoice{Delta: said}))
}

// end tells the artifacts, how the task ended, and what it used.
func (s *chatStream) end(w *bufio.Writer) error {
	task, err := s.server.opts.Service.Task(s.user, s.id)
	if err != nil {
		return err
	}
	view, err := presentTask(task, s.presenter.real)
	if err != nil {
		return err
	}
	if p := chatProblem(view); p != nil {
		return errors.Join(send(w, fiber.Map{"error": openAIError(*p)}), done(w))
	}
	text := s.links(task.Artifacts)
	if !s.begun {
		text = view.Message + text
	}
	if text != "" {
		if err := s.say(w, text); err != nil {
			return err
		}
	}
	last := s.completion("chat.completion.chunk", chatChoice{Delta: &chatSaid{}, FinishReason: &finished})
	last.Airlock = s.about(view)
	if err := send(w, last); err != nil {
		return err
	}
	if s.usage {
		chunk := s.completion("chat.completion.chunk")
		chunk.Usage = usageOf(task.Usage)
		if err := send(w, chunk); err != nil {
			return err
		}
	}
	return done(w)
}

func send(w *bufio.Writer, chunk any) error {
	data, err := json.Marshal(chunk)
	if err != nil {
		return fmt.Errorf("put a chunk into JSON: %w", err)
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
		return fmt.Errorf("send a chunk: %w", err)
	}
	return nil
}

func done(w *bufio.Writer) error {
	if _, err := w.WriteString("data: [DONE]\n\n"); err != nil {
		return fmt.Errorf("end a stream: %w", err)
	}
	return nil
}
