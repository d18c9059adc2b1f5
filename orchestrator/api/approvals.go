package api

import (
	"cmp"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
)

type approvalBody struct {
	UserID   string `json:"userId"`
	Decision string `json:"decision"`
	Scope    string `json:"scope"`
}

// postApproval answers a call that waits for its user. What the task does next is
// told by its events, so the answer holds no more than the decision.
func (s *Server) postApproval(c *fiber.Ctx) error {
	if !callerOf(c).Rights.Approve {
		return problem{fiber.StatusForbidden, "no_approve_right", "answering an approval needs the right approve", "use a key with that right"}
	}
	var body approvalBody
	if err := decode(c, &body); err != nil {
		return err
	}
	user, err := user(c, cmp.Or(body.UserID, localOf(c)))
	if err != nil {
		return err
	}
	decision, err := body.decision()
	if err != nil {
		return err
	}
	if err := s.opts.Service.Decide(user, ident.Task(c.Params("id")), ident.Approval(c.Params("approvalId")), decision); err != nil {
		return err
	}
	return c.JSON(fiber.Map{"approvalId": c.Params("approvalId"), "decision": body.Decision})
}

func (b approvalBody) decision() (d orchestrator.Decision, err error) {
	switch b.Decision {
	case "approve":
		d.Approve = true
	case "deny":
	default:
		return d, badBody(`decision must be "approve" or "deny"`)
	}
	switch b.Scope {
	case "", "call":
	case "task":
		if !d.Approve {
			return d, badBody(`scope "task" goes with the decision "approve" only`)
		}
		d.Task = true
	default:
		return d, badBody(`scope must be "call" or "task"`)
	}
	return d, nil
}
