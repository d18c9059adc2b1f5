package api

import (
	"github.com/gofiber/fiber/v2"

	"airlock/bridge"
	"airlock/pii"
)

func (s *Server) listTools(c *fiber.Ctx) error {
	if err := strictQuery(c, "query", "server", "limit", "cursor", "detail", "userId", "detokenize"); err != nil {
		return err
	}
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	limit := c.QueryInt("limit", 0)
	if limit < 0 || (limit == 0 && c.Query("limit") != "") {
		return badBody("limit must be a positive number")
	}
	found, vault, err := s.opts.Service.Tools(s.ctx, user, bridge.Query{
		Text: c.Query("query"), Server: c.Query("server"), Limit: limit, Cursor: c.Query("cursor"), Detail: bridge.Detail(c.Query("detail")),
	})
	if err != nil {
		return err
	}
	return s.answerJSON(c, vault, found)
}

func (s *Server) getTool(c *fiber.Ctx) error {
	if err := strictQuery(c, "userId", "detokenize"); err != nil {
		return err
	}
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	found, vault, err := s.opts.Service.Tool(s.ctx, user, c.Params("name"))
	if err != nil {
		return err
	}
	return s.answerJSON(c, vault, found)
}

// answerJSON sends tokenized JSON as it is, since its reader may be a model,
// unless the caller asks for the values and may have them.
func (s *Server) answerJSON(c *fiber.Ctx, v *pii.Vault, t pii.Tokenized) error {
	text, reveal := t.String(), c.QueryBool("detokenize")
	err := mayReveal(c, reveal)
	if err != nil {
		return err
	}
	if reveal {
		if text, err = realText(v, t); err != nil {
			return err
		}
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.SendString(text)
}
