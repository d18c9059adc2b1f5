package api

import (
	"github.com/gofiber/fiber/v2"

	"airlock/ident"
)

// eraseSession ends a session and forgets the values behind its tokens.
func (s *Server) eraseSession(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	if err := s.opts.Service.EraseSession(s.ctx, user, ident.Session(c.Params("id"))); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
