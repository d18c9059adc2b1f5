package api

import (
	"errors"
	"io/fs"

	"github.com/gofiber/fiber/v2"

	"airlock/skills"
)

type skillView struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Path        string       `json:"path"`
	Scope       skills.Scope `json:"scope"`
	Content     string       `json:"content,omitempty"`
}

func presentSkill(k skills.Skill, show rawShower) (view skillView, err error) {
	view = skillView{Path: k.Path, Scope: k.Scope}
	if view.Name, err = show(k.Name); err != nil {
		return view, err
	}
	view.Description, err = show(k.Description)
	return view, err
}

func (s *Server) listSkills(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	list, err := s.opts.Service.Skills(user)
	if err != nil {
		return err
	}
	show, err := s.rawAs(c)
	if err != nil {
		return err
	}
	views := []skillView{}
	for _, k := range list {
		view, err := presentSkill(k, show)
		if err != nil {
			return err
		}
		views = append(views, view)
	}
	return c.JSON(fiber.Map{"skills": views, "count": len(views)})
}

func (s *Server) getSkill(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	skill, text, err := s.opts.Service.Skill(user, c.Params("name"))
	if errors.Is(err, fs.ErrNotExist) {
		return problem{fiber.StatusNotFound, "not_found", "there is no skill of that name", "GET /skills lists them"}
	}
	if err != nil {
		return err
	}
	show, err := s.rawAs(c)
	if err != nil {
		return err
	}
	view, err := presentSkill(skill, show)
	if err != nil {
		return err
	}
	if view.Content, err = show(text); err != nil {
		return err
	}
	return c.JSON(view)
}
