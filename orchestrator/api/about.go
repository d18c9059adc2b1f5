package api

import (
	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator/auth"
	"airlock/runtime/sandbox"
	"airlock/servers"
)

// About is what a server says of itself to its callers.
type About struct {
	Version string `json:"version"`
	// Model is the provider and the model that answer, "skillmatch" where none does.
	Model string `json:"model"`
	// PIIMode is "sealed" or "open".
	PIIMode string `json:"piiMode"`
}

// Servers tells how the upstream servers are. It may be called concurrently.
type Servers interface {
	Status() []servers.Status
}

// getAbout tells callers whom they act as, what they may do, and what answers them.
func (s *Server) getAbout(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	return c.JSON(struct {
		About
		Languages []sandbox.Language `json:"languages"`
		User      ident.User         `json:"userId"`
		Rights    auth.Rights        `json:"rights"`
	}{s.opts.About, s.opts.Service.Languages(), user, callerOf(c).Rights})
}

// listServers tells how the upstream servers are. What failed is for the operator: it
// may have been another user's.
func (s *Server) listServers(c *fiber.Ctx) error {
	type line struct {
		Server    string `json:"server"`
		Transport string `json:"transport"`
		State     string `json:"state"`
		Tools     int    `json:"tools"` // -1 when it has not been asked yet
	}
	list := []line{}
	if s.opts.Servers != nil {
		for _, status := range s.opts.Servers.Status() {
			list = append(list, line{status.Server, status.Transport, serverState(status), status.Tools})
		}
	}
	return c.JSON(fiber.Map{"servers": list, "count": len(list)})
}

func serverState(s servers.Status) string {
	switch {
	case s.Failing > 0 && s.Running == 0:
		return "failing"
	case s.Running > 0:
		return "running"
	default:
		return "idle"
	}
}
