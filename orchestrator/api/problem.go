package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/orchestrator"
	"airlock/runtime/sandbox"
)

// problem is an error in the words of its caller.
type problem struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (p problem) Error() string { return p.Message }

// answerError is the one place where errors become answers. An error it does not
// know is told by an id only: its text may hold what the caller must not see.
func (s *Server) answerError(c *fiber.Ctx, err error) error {
	p := problemOf(err)
	if p.Status == fiber.StatusInternalServerError {
		p.Hint = "look for the id " + requestID(c) + " in the server's log"
		s.log(c).Error("request failed", zap.String("method", c.Method()), zap.String("route", c.Route().Path), zap.Error(err))
	}
	if strings.HasPrefix(c.Path(), chatPrefix) {
		return c.Status(p.Status).JSON(fiber.Map{"error": openAIError(p)})
	}
	return c.Status(p.Status).JSON(fiber.Map{"error": p})
}

// chatPrefix is where OpenAI's API begins.
const chatPrefix = "/v1/"

// openAIError is a problem in the form that clients of OpenAI know.
func openAIError(p problem) fiber.Map {
	kind := "invalid_request_error"
	switch {
	case p.Status == fiber.StatusUnauthorized:
		kind = "authentication_error"
	case p.Status == fiber.StatusForbidden:
		kind = "permission_error"
	case p.Status == fiber.StatusTooManyRequests:
		kind = "rate_limit_error"
	case p.Status >= fiber.StatusInternalServerError:
		kind = "server_error"
	}
	message := p.Message
	if p.Hint != "" {
		message += "; " + p.Hint
	}
	return fiber.Map{"message": message, "type": kind, "param": nil, "code": p.Code, "hint": p.Hint}
}

func problemOf(err error) problem {
	var own problem
	var framework *fiber.Error
	var refused *bridge.Error
	var elsewhere *orchestrator.ElsewhereError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refused):
		return problem{refused.Status, refused.Code, refused.Message, refused.Hint}
	case errors.As(err, &elsewhere):
		return problem{fiber.StatusServiceUnavailable, "elsewhere", err.Error(), "set PEER_URL on each airlock process, so that requests can be passed on"}
	case errors.Is(err, orchestrator.ErrMoved):
		return problem{fiber.StatusServiceUnavailable, "moved", err.Error(), "ask for the task by GET /tasks/:id, or send the request again under the same Idempotency-Key"}
	case errors.Is(err, orchestrator.ErrCutOff):
		return problem{fiber.StatusServiceUnavailable, "cut_off", err.Error(), "try again in some seconds"}
	case errors.Is(err, orchestrator.ErrNotFound):
		return problem{fiber.StatusNotFound, "not_found", err.Error(), "check the id; ids of other users are not found either"}
	case errors.Is(err, orchestrator.ErrTooLarge):
		return problem{fiber.StatusRequestEntityTooLarge, "too_large", err.Error(), "send less at once"}
	case errors.Is(err, orchestrator.ErrInvalid):
		return problem{fiber.StatusBadRequest, "invalid_request", err.Error(), "see docs/API.md for what the call takes"}
	case errors.Is(err, orchestrator.ErrRepeat):
		return problem{fiber.StatusUnprocessableEntity, "idempotency_key_reused", err.Error(), "use a new Idempotency-Key for a new request"}
	case errors.Is(err, orchestrator.ErrModel):
		return problem{fiber.StatusBadRequest, "unknown_model", err.Error(), "name one of these, or leave model out"}
	case errors.Is(err, orchestrator.ErrLanguage):
		return problem{fiber.StatusBadRequest, "unsupported_language", err.Error(), "use one of the available languages; python and bash need the docker sandbox, as the README tells"}
	case errors.Is(err, orchestrator.ErrWorking):
		return problem{fiber.StatusConflict, "session_at_work", err.Error(), "cancel its task or wait for it, then try again"}
	case errors.Is(err, sandbox.ErrLimits):
		return problem{fiber.StatusRequestEntityTooLarge, "too_large", "the script passes a limit of its sandbox", "put data into files or tools, not into the script"}
	case errors.Is(err, orchestrator.ErrFull):
		return problem{fiber.StatusServiceUnavailable, "full", err.Error(), "try again in a moment"}
	case errors.Is(err, orchestrator.ErrShare):
		return problem{fiber.StatusTooManyRequests, "user_full", err.Error(), "try again when one of your tasks has ended"}
	case errors.Is(err, orchestrator.ErrClosed):
		return problem{fiber.StatusServiceUnavailable, "shutting_down", err.Error(), "try again when the server is back"}
	case errors.As(err, &framework) && framework.Code == fiber.StatusRequestEntityTooLarge:
		return problem{framework.Code, "too_large", fmt.Sprintf("the body is larger than %d bytes", bodyLimit), "send less at once, or put data where a tool can read it"}
	case errors.As(err, &framework) && framework.Code < fiber.StatusInternalServerError:
		// Its own message may repeat bytes of the request.
		return problem{framework.Code, cmp.Or(frameworkCodes[framework.Code], "invalid_request"), "the request was refused: " + strings.ToLower(http.StatusText(framework.Code)), "see docs/API.md for what the server takes"}
	default:
		return problem{fiber.StatusInternalServerError, "internal", "something failed inside airlock", ""}
	}
}

// frameworkCodes name what Fiber itself refuses.
var frameworkCodes = map[int]string{
	fiber.StatusBadRequest:                  "invalid_request",
	fiber.StatusNotFound:                    "not_found",
	fiber.StatusMethodNotAllowed:            "method_not_allowed",
	fiber.StatusRequestTimeout:              "request_timeout",
	fiber.StatusRequestHeaderFieldsTooLarge: "headers_too_large",
}

func (s *Server) unknownRoute(*fiber.Ctx) error {
	return problem{fiber.StatusNotFound, "unknown_route", "there is nothing at this path with this method", "see docs/API.md for the routes"}
}

// recoverPanic turns a fault of ours into an answer; the stack goes to the log.
func (s *Server) recoverPanic(c *fiber.Ctx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log(c).Error("handler panicked", zap.ByteString("stack", debug.Stack()))
			err = errors.New("handler panicked")
		}
	}()
	return c.Next()
}
