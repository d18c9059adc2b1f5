package api

import (
	"cmp"
	"errors"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
)

// eraseSession ends a session and forgets the values behind its tokens.
func (s *Server) eraseSession(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	erased, err := s.eraseElsewhere(c)
	if err != nil {
		return err
	}
	err = s.opts.Service.EraseSession(s.ctx, user, ident.Session(c.Params("id")))
	if err != nil && !(erased && errors.Is(err, orchestrator.ErrNotFound)) {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// renameSession gives a session a title of its user's choice.
func (s *Server) renameSession(c *fiber.Ctx) error {
	var body struct {
		UserID string `json:"userId"`
		Title  string `json:"title"`
	}
	if err := decode(c, &body); err != nil {
		return err
	}
	user, err := user(c, cmp.Or(body.UserID, localOf(c)))
	if err != nil {
		return err
	}
	if err := s.opts.Service.Rename(user, ident.Session(c.Params("id")), pii.NewRaw(body.Title)); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// eraseUser erases everything of a user.
func (s *Server) eraseUser(c *fiber.Ctx) error {
	user, err := user(c, c.Params("userId"))
	if err != nil {
		return err
	}
	if _, ok := passedOn(c); !ok {
		if err := s.opts.Service.AnnounceErasure(s.ctx, user); err != nil {
			return err
		}
	}
	if _, err := s.eraseElsewhere(c); err != nil {
		return err
	}
	if err := s.opts.Service.EraseUser(s.ctx, user); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
