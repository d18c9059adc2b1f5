package api

import (
	"context"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"airlock/docs"
)

// readyTimeout bounds the check of all components.
const readyTimeout = 5 * time.Second

// readyFor is how long an answer about the components counts: anybody may ask.
const readyFor = time.Second

// readiness is what was last found of the components.
type readiness struct {
	mu    sync.Mutex // guards all below; held while looking, so that one does at a time
	at    time.Time
	found map[string]error
}

func (r *readiness) look(ctx context.Context, check func(context.Context) map[string]error) map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == nil || time.Since(r.at) >= readyFor {
		ctx, cancel := context.WithTimeout(ctx, readyTimeout)
		defer cancel()
		r.found, r.at = check(ctx), time.Now()
	}
	return r.found
}

// health says that the process answers.
func (s *Server) health(c *fiber.Ctx) error {
	return c.JSON(fiber.Map{"status": "ok", "timestamp": time.Now().UTC()})
}

// ready says whether tasks can be worked on; component by component where callers
// are not told apart anyway.
func (s *Server) ready(c *fiber.Ctx) error {
	status, code := "ok", fiber.StatusOK
	components := fiber.Map{}
	for name, err := range s.readiness.look(s.ctx, s.opts.Service.Check) {
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
