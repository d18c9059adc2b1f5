package api

import (
	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/skills"
)

type skillBody struct {
	UserID string            `json:"userId"`
	Name   string            `json:"name"`
	Files  map[string]string `json:"files"`
	Zip    []byte            `json:"zip"`
}

// postSkill saves a skill, given as files or as a zip archive.
func (s *Server) postSkill(c *fiber.Ctx) error {
	var body skillBody
	if err := decode(c, &body); err != nil {
		return err
	}
	user, err := user(c, body.UserID)
	if err != nil {
		return err
	}
	upload, err := body.upload()
	if err != nil {
		return skillProblem(err)
	}
	if err := s.allow(c, user); err != nil {
		return err
	}
	skill, err := s.opts.Service.AddSkill(user, upload)
	return s.answerSkill(c, skill, err)
}

func (b skillBody) upload() (skills.Upload, error) {
	switch {
	case len(b.Zip) > 0 && len(b.Files) == 0 && b.Name == "":
		return skills.ReadZip(b.Zip)
	case len(b.Zip) > 0 || len(b.Files) == 0 || b.Name == "":
		return skills.Upload{}, badBody("a skill is either name and files, or a zip archive in base64")
	}
	u := skills.Upload{Name: b.Name, Files: map[string][]byte{}}
	for name, text := range b.Files {
		u.Files[name] = []byte(text)
	}
	return u, nil
}

// answerSkill answers with a skill that was saved.
func (s *Server) answerSkill(c *fiber.Ctx, k skills.Skill, err error) error {
	if err != nil {
		return skillProblem(err)
	}
	show, err := s.rawAs(c)
	if err != nil {
		return err
	}
	view, err := presentSkill(k, show)
	if err != nil {
		return err
	}
	return c.JSON(view)
}

func (s *Server) deleteSkill(c *fiber.Ctx) error {
	user, name, err := namedSkill(c)
	if err != nil {
		return err
	}
	if err := s.operatorOnly(name); err != nil {
		return err
	}
	if err := s.opts.Service.DeleteSkill(user, name); err != nil {
		return skillProblem(err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// skillOf decodes a body and tells which skill the call is about, and whose it is. The
// user's ID stands in a field of the body.
func skillOf(c *fiber.Ctx, body any, userID *string) (owner ident.User, name string, err error) {
	if err := decode(c, body); err != nil {
		return "", "", err
	}
	if owner, err = user(c, *userID); err != nil {
		return "", "", err
	}
	name, err = skillName(c)
	return owner, name, err
}

type rollbackBody struct {
	UserID string `json:"userId"`
	Number int    `json:"number"`
}

func (s *Server) rollbackSkill(c *fiber.Ctx) error {
	var body rollbackBody
	user, name, err := skillOf(c, &body, &body.UserID)
	if err != nil {
		return err
	}
	if err := s.operatorOnly(name); err != nil {
		return err
	}
	if err := s.opts.Service.RollbackSkill(user, name, body.Number); err != nil {
		return skillProblem(err)
	}
	skill, _, err := s.opts.Service.Skill(user, name)
	return s.answerSkill(c, skill, err)
}

type promoteBody struct {
	UserID string `json:"userId"`
	// Hash is that of the review.
	Hash string `json:"hash"`
}

// promoteSkill moves a user's skill, as it was reviewed, to those of everybody.
func (s *Server) promoteSkill(c *fiber.Ctx) error {
	if err := s.operatorOnly("shared/"); err != nil {
		return err
	}
	var body promoteBody
	user, name, err := skillOf(c, &body, &body.UserID)
	if err != nil {
		return err
	}
	skill, err := s.opts.Service.PromoteSkill(user, name, body.Hash)
	return s.answerSkill(c, skill, err)
}
