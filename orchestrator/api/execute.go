package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/runtime/sandbox"
)

type executeBody struct {
	UserID     string `json:"userId"`
	Language   string `json:"language"`
	Backend    string `json:"backend"`
	Code       string `json:"code"`
	SessionID  string `json:"sessionId"`
	TimeoutMs  int64  `json:"timeoutMs"`
	Detokenize bool   `json:"detokenize"`
}

// postExecute runs a script without a model. Its caller may be a model itself,
// so the answer is tokenized unless the caller asks otherwise and may.
func (s *Server) postExecute(c *fiber.Ctx) error {
	var body executeBody
	if err := decode(c, &body); err != nil {
		return err
	}
	user, err := user(c, body.UserID)
	if err != nil {
		return err
	}
	if err := mayReveal(c, body.Detokenize); err != nil {
		return err
	}
	timeout, err := milliseconds("timeoutMs", body.TimeoutMs)
	if err != nil {
		return err
	}
	if body.Language == "" {
		body.Language = string(sandbox.JavaScript)
	}
	if err := s.allow(c, user); err != nil {
		return err
	}
	out, err := s.opts.Service.Execute(s.ctx, orchestrator.ExecuteRequest{
		User: user, Session: ident.Session(body.SessionID), Language: sandbox.Language(body.Language), Backend: body.Backend,
		Code: body.Code, Timeout: timeout,
	})
	if err != nil {
		if context.Cause(s.ctx) != nil {
			return orchestrator.ErrClosed
		}
		return err
	}
	view, err := presentExecution(out, body.Detokenize)
	if err != nil {
		return err
	}
	return c.JSON(view)
}
