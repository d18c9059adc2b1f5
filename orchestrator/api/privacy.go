package api

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
)

// privacyView says what a task kept from its model and what it gave to tools. It holds
// no value.
type privacyView struct {
	Protected []orchestrator.Protected `json:"protected"`
	Releases  []passedView             `json:"releases"`
	Refusals  []passedView             `json:"refusals"`
}

// passedView are the calls of one tool that gave, or were not to give, values of the
// same types and origins.
type passedView struct {
	Server  string       `json:"server"`
	Tool    string       `json:"tool"`
	Types   []pii.Type   `json:"types"`
	Origins []pii.Origin `json:"origins,omitempty"`
	Policy  pii.Policy   `json:"policy"`
	Calls   int          `json:"calls"`
}

func (s *Server) getPrivacy(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	task, err := s.opts.Service.Task(user, ident.Task(c.Params("id")))
	if err != nil {
		return err
	}
	events, _, err := s.opts.Service.Events(user, task.ID, 0)
	if err != nil {
		return err
	}
	view := privacyView{Protected: append([]orchestrator.Protected{}, task.Protected...), Releases: []passedView{}, Refusals: []passedView{}}
	for _, e := range events {
		if p := e.Data.Privacy; p != nil {
			view.Releases = passed(view.Releases, e.Data.Tool, p, p.Released, p.Origins)
			view.Refusals = passed(view.Refusals, e.Data.Tool, p, p.Refused, nil)
		}
	}
	return c.JSON(view)
}

// passed adds one call to those like it.
func passed(list []passedView, tool string, p *orchestrator.Privacy, types []pii.Type, origins []pii.Origin) []passedView {
	if len(types) == 0 {
		return list
	}
	at := slices.IndexFunc(list, func(v passedView) bool {
		return v.Tool == tool && slices.Equal(v.Types, types) && slices.Equal(v.Origins, origins)
	})
	if at < 0 {
		return append(list, passedView{Server: p.Server, Tool: tool, Types: types, Origins: origins, Policy: p.Policy, Calls: 1})
	}
	list[at].Calls++
	return list
}

// maxShownValues bounds how many values of a type are shown at once.
const maxShownValues = 200

// getPrivateValues shows the values of one type behind a task's tokens, to who may see
// them.
func (s *Server) getPrivateValues(c *fiber.Ctx) error {
	if err := strictQuery(c, "type", "limit", "userId"); err != nil {
		return err
	}
	if err := mayReveal(c, true); err != nil {
		return err
	}
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	limit := c.QueryInt("limit", maxShownValues)
	if limit < 1 || limit > maxShownValues {
		return badBody("limit must be between 1 and 200")
	}
	task, err := s.opts.Service.Task(user, ident.Task(c.Params("id")))
	if err != nil {
		return err
	}
	kind := pii.Type(c.Query("type"))
	values, err := presentValues(task.Vault, task.Vault.Tokens(kind, limit))
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"type": kind, "values": values, "total": task.Vault.Counts()[kind]})
}
