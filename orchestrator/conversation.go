package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/pii"
)

// Conversation is a session as a model outside of airlock uses it, by way of its
// host: scripts, files, tools, skills and artifacts, all told with tokens in place
// of personal values. Its session is made when it is first needed, and made anew
// where it has ended since, as one does that nobody uses for long. The methods may
// be called concurrently; those that return ErrNotFound mean what they were asked
// for, never the session.
type Conversation struct {
	service *Service
	user    ident.User

	mu sync.Mutex // guards id, and keeps two first calls from making two sessions
	id ident.Session
}

// Converse begins a conversation for a user.
func (s *Service) Converse(user ident.User) *Conversation {
	return &Conversation{service: s, user: user}
}

// Close gives up the session with its sandbox and workspace. What its artifacts
// need to be read stays. It fails with ErrWorking while a script runs.
func (c *Conversation) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id == "" {
		return nil
	}
	return c.service.sessions.finish(c.user, c.id)
}

// enter returns the session, kept alive until leave.
func (c *Conversation) enter() (s *session, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sessions := c.service.sessions
	s, err = sessions.take(c.user, c.id)
	if errors.Is(err, ErrNotFound) {
		s, err = sessions.take(c.user, "")
	}
	if err != nil {
		return nil, nil, err
	}
	c.id = s.id
	done, err := sessions.work(s)
	if err != nil {
		sessions.release(s)
		return nil, nil, err
	}
	return s, func() { done(); sessions.release(s) }, nil
}

// Execute runs a script; the session that r names is not looked at. The second
// result is what a model is told of the first, as JSON: too long an output is cut,
// and the whole of it kept in the session's workspace.
func (c *Conversation) Execute(ctx context.Context, r ExecuteRequest) (Execution, pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return Execution{}, noText, err
	}
	defer leave()
	r.User, r.Session = c.user, session.id
	out, err := c.service.Execute(ctx, r)
	if err != nil {
		return Execution{}, noText, err
	}
	told, err := c.service.tellModel(session, out)
	return out, told, err
}

// listedTools is how many names of tools a model is told at once.
const listedTools = 400

// SearchTools lists or searches the tools that scripts can call, as the bridge puts it
// into JSON: a page of them that fits the model's share.
func (c *Conversation) SearchTools(ctx context.Context, q bridge.Query) (pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return noText, err
	}
	defer leave()
	switch {
	case q.Limit == 0 && q.Text == "":
		q.Limit = listedTools
	case q.Text != "" && q.Detail == "":
		q.Detail, q.Limit = bridge.DetailSummary, cmp.Or(q.Limit, modelFound)
	}
	for {
		found, err := c.service.opts.Bridge.Search(ctx, session.viewer(), q)
		if err != nil || found.Len() <= c.service.opts.Limits.ModelBytes {
			return found, err
		}
		if q.Limit = min(cmp.Or(q.Limit, modelFound), listedTools) / 2; q.Limit == 0 {
			return c.service.outline(session, found, nil)
		}
	}
}

// DescribeTool describes one tool, likewise.
func (c *Conversation) DescribeTool(ctx context.Context, name string) (pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return noText, err
	}
	defer leave()
	return c.service.describeTool(ctx, session, name)
}

// SystemPrompt tells a model how to work here, and of the skills that may fit the
// task, which may be empty.
func (c *Conversation) SystemPrompt(task pii.Raw) (pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return noText, err
	}
	defer leave()
	var fitting []llm.Skill
	if !task.IsZero() {
		text, err := session.vault.Tokenize(task, pii.OriginUser)
		if err != nil {
			return noText, fmt.Errorf("tokenize the task: %w", err)
		}
		if fitting, err = c.service.matchSkills(session, text); err != nil {
			return noText, err
		}
	}
	return systemPrompt(c.service, session.vault, fitting)
}

// Tell makes a text of ours fit to be told, which may hold words of the model or of
// a server, such as an error's.
func (c *Conversation) Tell(text pii.Raw) (pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return noText, err
	}
	defer leave()
	return session.vault.Tokenize(text, pii.OriginScript)
}

// finish ends a session that nobody works in, and keeps what its artifacts need.
func (r *sessions) finish(user ident.User, id ident.Session) error {
	r.mu.Lock()
	s, ok := r.byID[id]
	switch {
	case !ok || s.user != user:
		r.mu.Unlock()
		return nil
	case s.users > 0:
		r.mu.Unlock()
		return ErrWorking
	}
	delete(r.byID, id)
	r.mu.Unlock()
	return r.end([]*session{s})
}
