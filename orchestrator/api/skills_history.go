package api

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/skills"
)

// SkillVerifier runs a skill's own checks.
type SkillVerifier interface {
	VerifySkill(context.Context, ident.User, string) ([]orchestrator.SkillCheck, error)
}

func (s *Server) skillHistory(c *fiber.Ctx) error {
	user, name, err := namedSkill(c)
	if err != nil {
		return err
	}
	versions, err := s.opts.Service.SkillHistory(user, name)
	if err != nil {
		return skillProblem(err)
	}
	return c.JSON(fiber.Map{"versions": append([]skills.Version{}, versions...)})
}

type diffView struct {
	File string `json:"file"`
	Diff string `json:"diff"`
}

// presentDiffs shows differences as the caller may see them.
func (s *Server) presentDiffs(c *fiber.Ctx, list []skills.FileDiff) ([]diffView, error) {
	show, err := s.rawAs(c)
	if err != nil {
		return nil, err
	}
	views := []diffView{}
	for _, d := range list {
		text, err := show(d.Text)
		if err != nil {
			return nil, err
		}
		views = append(views, diffView{d.File, text})
	}
	return views, nil
}

func (s *Server) skillDiff(c *fiber.Ctx) error {
	if err := strictQuery(c, "userId", "from", "to"); err != nil {
		return err
	}
	user, name, err := namedSkill(c)
	if err != nil {
		return err
	}
	from, fromErr := strconv.Atoi(c.Query("from", "0"))
	to, toErr := strconv.Atoi(c.Query("to", "0"))
	if fromErr != nil || toErr != nil || from < 0 || to < 0 {
		return badBody("from and to are numbers of versions")
	}
	list, err := s.opts.Service.SkillDiff(user, name, from, to)
	if err != nil {
		return skillProblem(err)
	}
	views, err := s.presentDiffs(c, list)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"files": views})
}

// reviewSkill shows what promoting a skill would change for everybody.
func (s *Server) reviewSkill(c *fiber.Ctx) error {
	user, name, err := namedSkill(c)
	if err != nil {
		return err
	}
	review, err := s.opts.Service.ReviewSkill(user, name)
	if err != nil {
		return skillProblem(err)
	}
	views, err := s.presentDiffs(c, review.Diff)
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"hash": review.Hash, "number": review.Number, "files": views})
}

// zipSkill packs a skill for another installation.
func (s *Server) zipSkill(c *fiber.Ctx) error {
	user, name, err := namedSkill(c)
	if err != nil {
		return err
	}
	data, file, err := s.opts.Service.ZipSkill(user, name)
	if err != nil {
		return skillProblem(err)
	}
	c.Attachment(file)
	c.Set(fiber.HeaderContentType, "application/zip")
	return c.Send(data)
}

type verifyBody struct {
	UserID string `json:"userId"`
}

type checkView struct {
	Name      string `json:"name"`
	Passed    bool   `json:"passed"`
	Execution any    `json:"execution"`
}

// verifySkill runs a skill's example and test.
func (s *Server) verifySkill(c *fiber.Ctx) error {
	var body verifyBody
	user, name, err := skillOf(c, &body, &body.UserID)
	if err != nil {
		return err
	}
	if err := s.allow(c, user); err != nil {
		return err
	}
	done, err := s.opts.Service.VerifySkill(s.ctx, user, name)
	if err != nil {
		return skillProblem(err)
	}
	passed, views := true, []checkView{}
	for _, check := range done {
		view, err := presentExecution(check.Execution, callerOf(c).Rights.Reveal)
		if err != nil {
			return err
		}
		passed = passed && check.Passed
		views = append(views, checkView{check.Name, check.Passed, view})
	}
	return c.JSON(fiber.Map{"passed": passed, "checks": views})
}
