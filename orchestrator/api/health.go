package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"airlock/docs"
)

// readyTimeout bounds the check of all components.
const readyTimeout = 5 * time.Second

// health says that the process answers.
func (s *Server) health(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{"status": "ok", "timestamp": time.Now().UTC()})
}

// ready says whether tasks can be worked on; component by component where callers
// are not told apart anyway.
func (s *Server) ready(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(s.ctx, readyTimeout)
	defer cancel()
	status, code := "ok", fiber.StatusOK
	components := fiber.Map{}
	for name, err := range s.opts.Service.Check(ctx) {
		components[name] = "ok"
		if err != nil {
			components[name] = err.Error()
			status, code = "not ready", fiber.StatusServiceUnavailable
		}
	}
	if s.opts.Authenticator != nil {
		return c.Status(code).JSON(fiber.Map{"status": status}) // to whoever asks
	}
	return c.Status(code).JSON(fiber.Map{"status": status, "components": components})
}

// describe answers with the description of this API, which tells nothing of anybody.
func describe(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(docs.OpenAPI)
}
