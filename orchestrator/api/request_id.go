package api

import (
	"crypto/rand"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"
)

// requestKey is where a request's id is among the values that Fiber keeps for it.
type requestKey struct{}

// requestID names a request in the log and, where it failed inside airlock, to its
// caller. It is made when somebody first asks.
func requestID(c *fiber.Ctx) string {
	if id, ok := c.Locals(requestKey{}).(string); ok {
		return id
	}
	id := rand.Text()
	c.Locals(requestKey{}, id)
	return id
}

// log names the request in each line.
func (s *Server) log(c *fiber.Ctx) *zap.Logger {
	return s.opts.Log.With(zap.String("request", requestID(c)))
}
