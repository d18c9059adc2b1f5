package orchestrator

import (
	"fmt"
	"slices"

	"airlock/ident"
	"airlock/pii"
)

// maxTitleBytes bounds the title of a session.
const maxTitleBytes = 200

// Rename gives a session a title; an empty one takes it away. It fails with
// ErrNotFound, or ErrTooLarge.
func (s *Service) Rename(user ident.User, id ident.Session, title pii.Raw) error {
	if title.Len() > maxTitleBytes {
		return fmt.Errorf("title %w: it has %d bytes, the limit is %d", ErrTooLarge, title.Len(), maxTitleBytes)
	}
	if err := s.adopt(s.ctx, user, id); err != nil {
		return err
	}
	session, err := s.sessions.enter(user, id)
	if err != nil {
		return err
	}
	defer s.sessions.release(session)
	text, err := session.vault.Tokenize(title, pii.OriginUser)
	if err != nil {
		return fmt.Errorf("tokenize the title: %w", err)
	}
	session.rename(text)
	for _, t := range s.tasks.inSession(user, id) {
		t.change(func(task *Task) { task.Title = text })
	}
	return s.kept.renamed(s.ctx, session)
}

func (s *session) rename(title pii.Tokenized) {
	s.titling.Lock()
	defer s.titling.Unlock()
	s.title = title
}

// named gives the session's title.
func (s *session) named() pii.Tokenized {
	s.titling.Lock()
	defer s.titling.Unlock()
	return s.title
}

// inSession returns a user's tasks of one session.
func (r *tasks) inSession(user ident.User, id ident.Session) []*taskState {
	return slices.DeleteFunc(r.of(user), func(t *taskState) bool { return t.session.id != id })
}

// forgetSession drops the ended tasks of a session, and erases what they could still
// show. It reports whether there were any.
func (r *tasks) forgetSession(user ident.User, id ident.Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.finished)
	r.finished = slices.DeleteFunc(r.finished, func(task ident.Task) bool {
		t := r.byID[task]
		if t == nil || t.request.User != user || t.session.id != id {
			return false
		}
		t.session.vault.Erase()
		r.forget(task)
		return true
	})
	return len(r.finished) < before
}
