package api

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"airlock/orchestrator"
	"airlock/pii"
	"airlock/pii/reveal"
)

// rawShower puts what was kept without ever having been tokenized into the form that
// the caller is to see.
type rawShower func(pii.Raw) (string, error)

// rawAs shows such texts to who may see values, and to others with tokens, which
// stand for nothing anywhere else.
func (s *Server) rawAs(c *fiber.Ctx) (rawShower, error) {
	if callerOf(c).Rights.Reveal {
		return func(r pii.Raw) (string, error) { return reveal.Text(r), nil }, nil
	}
	vault, err := s.opts.Service.Visitor()
	if err != nil {
		return nil, err
	}
	return func(r pii.Raw) (string, error) {
		text, err := vault.Tokenize(r, pii.OriginUser)
		if err != nil {
			return "", fmt.Errorf("tokenize for a caller without the right to values: %w", err)
		}
		return text.String(), nil
	}, nil
}

// presentFile puts the user's values into a text file; other files go out as they
// are. Each vault knows the tokens of one session and leaves others alone.
func (s *Server) presentFile(c *fiber.Ctx, f orchestrator.ArtifactFile) ([]byte, error) {
	if !callerOf(c).Rights.Reveal {
		return s.hideFile(c, f)
	}
	if !f.Text {
		return f.Data, nil
	}
	text := string(f.Data)
	for _, v := range f.Vaults {
		var err error
		if text, err = realText(v, v.FromModel(text)); err != nil {
			return nil, err
		}
	}
	return []byte(text), nil
}

// sealFile gives a text with tokens whoever asks: where it is shown, it may tell what
// it holds to others. Other data than text it does not give.
func (s *Server) sealFile(_ *fiber.Ctx, f orchestrator.ArtifactFile) ([]byte, error) {
	if !f.Text {
		return nil, problem{fiber.StatusBadRequest, "invalid_request", "only text can be had with tokens", "leave out tokenized"}
	}
	vault, err := s.opts.Service.Visitor()
	if err != nil {
		return nil, err
	}
	t, err := vault.Tokenize(pii.NewRaw(string(f.Data)), pii.OriginUser)
	if err != nil {
		return nil, fmt.Errorf("tokenize a file: %w", err)
	}
	return []byte(t.String()), nil
}

// hideFile gives a file to who may not see values: a script that saw them may have
// written them into it. Where scripts see values nothing tells what is in other data
// than text.
func (s *Server) hideFile(c *fiber.Ctx, f orchestrator.ArtifactFile) ([]byte, error) {
	if !f.Text {
		vault, err := s.opts.Service.Visitor()
		if err == nil && vault.Mode() == pii.Open {
			err = problem{fiber.StatusForbidden, "no_reveal_right", "a file that is no text may hold real values here, which need the right reveal", "use a key with that right"}
		}
		return f.Data, err
	}
	show, err := s.rawAs(c)
	if err != nil {
		return nil, err
	}
	text, err := show(pii.NewRaw(string(f.Data)))
	return []byte(text), err
}
