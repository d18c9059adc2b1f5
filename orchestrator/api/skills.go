package api

import (
	"errors"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
	"airlock/skills"
)

// SkillService is the part of Service that is about skills. Names are those that
// Skill takes: "sales-summary", or with a scope, "shared/x" and "user/x".
type SkillService interface {
	Skills(ident.User) ([]skills.Skill, error)
	SearchSkills(ident.User, pii.Raw) ([]skills.Match, error)
	Skill(ident.User, string) (skills.Skill, pii.Raw, error)
	AddSkill(ident.User, skills.Upload) (skills.Skill, error)
	DeleteSkill(ident.User, string) error
	SkillHistory(ident.User, string) ([]skills.Version, error)
	SkillDiff(user ident.User, name string, from, to int) ([]skills.FileDiff, error)
	RollbackSkill(user ident.User, name string, number int) error
	ReviewSkill(ident.User, string) (skills.Review, error)
	PromoteSkill(user ident.User, name, hash string) (skills.Skill, error)
	ZipSkill(ident.User, string) (data []byte, file string, err error)
	SkillVerifier
}

// skillView is a skill in lists and answers.
type skillView struct {
	ID          string               `json:"id"`
	Name        string               `json:"name"`
	Description string               `json:"description"`
	Path        string               `json:"path"`
	Scope       skills.Scope         `json:"scope"`
	Language    string               `json:"language,omitempty"`
	Number      int                  `json:"number,omitempty"`
	Saved       time.Time            `json:"saved,omitzero"`
	Stale       []string             `json:"stale,omitempty"`
	Runs        *skills.Runs         `json:"runs,omitempty"`
	Verified    *skills.Verification `json:"verified,omitempty"`
	Confidence  *float64             `json:"confidence,omitempty"`
	Content     string               `json:"content,omitempty"`
}

func presentSkill(k skills.Skill, show rawShower) (view skillView, err error) {
	view = skillView{
		ID: k.ID, Path: k.Path, Scope: k.Scope, Language: k.Language, Number: k.Number, Saved: k.Saved, Stale: k.Stale, Verified: k.Verified,
	}
	if k.Runs.Count > 0 {
		view.Runs = &k.Runs
	}
	if view.Name, err = show(k.Name); err != nil {
		return view, err
	}
	view.Description, err = show(k.Description)
	return view, err
}

// listSkills lists the user's skills, or ranks them for a query.
func (s *Server) listSkills(c *fiber.Ctx) error {
	if err := strictQuery(c, "userId", "query"); err != nil {
		return err
	}
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	found, err := s.findSkills(user, c.Query("query"))
	if err != nil {
		return err
	}
	show, err := s.rawAs(c)
	if err != nil {
		return err
	}
	views := []skillView{}
	for _, m := range found {
		view, err := presentSkill(m.Skill, show)
		if err != nil {
			return err
		}
		if c.Query("query") != "" {
			view.Confidence = &m.Confidence
		}
		views = append(views, view)
	}
	return c.JSON(fiber.Map{"skills": views, "count": len(views)})
}

// findSkills are all, or those that have something to do with the query.
func (s *Server) findSkills(user ident.User, query string) (found []skills.Match, err error) {
	if query == "" {
		list, err := s.opts.Service.Skills(user)
		for _, k := range list {
			found = append(found, skills.Match{Skill: k})
		}
		return found, err
	}
	ranked, err := s.opts.Service.SearchSkills(user, pii.NewRaw(query))
	for _, m := range ranked {
		if m.Confidence > 0 {
			found = append(found, m)
		}
	}
	return found, err
}

func (s *Server) getSkill(c *fiber.Ctx) error {
	user, name, err := namedSkill(c)
	if err != nil {
		return err
	}
	skill, text, err := s.opts.Service.Skill(user, name)
	if err != nil {
		return skillProblem(err)
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

// namedSkill reads whose skill of which name is meant, of calls without a body.
func namedSkill(c *fiber.Ctx) (user ident.User, name string, err error) {
	if user, err = queryUser(c); err != nil {
		return user, "", err
	}
	name, err = skillName(c)
	return user, name, err
}

// skillName is the path's; a scope in it comes with its slash encoded.
func skillName(c *fiber.Ctx) (string, error) {
	name, err := url.PathUnescape(c.Params("name"))
	if err != nil {
		return "", badBody("the skill's name is not encoded as paths are")
	}
	return name, nil
}

// operatorOnly lets the operator pass: whoever uses a server that knows no callers,
// which listens on loopback alone. What is shared changes what everybody runs.
func (s *Server) operatorOnly(name string) error {
	if s.opts.Authenticator == nil || !strings.HasPrefix(name, string(skills.ScopeShared)+"/") {
		return nil
	}
	return problem{fiber.StatusForbidden, "operator_only", "shared skills are the operator's", "use the command airlock skills where the server runs"}
}

// skillProblem puts what the store says into an answer. A Fault's text holds nothing
// of the skill's.
func skillProblem(err error) error {
	var unfit *skills.Fault
	switch {
	case errors.As(err, &unfit):
		return problem{fiber.StatusUnprocessableEntity, "unfit_skill", unfit.Error(), "docs/SKILLS.md tells what a skill may hold"}
	case errors.Is(err, fs.ErrNotExist):
		return problem{fiber.StatusNotFound, "not_found", "there is no skill of that name, or no such version of it", "GET /skills lists the skills, GET /skills/:name/history the versions"}
	case errors.Is(err, skills.ErrShipped):
		return problem{fiber.StatusForbidden, "read_only", skills.ErrShipped.Error(), "POST /skills saves a copy"}
	case errors.Is(err, skills.ErrChanged):
		return problem{fiber.StatusConflict, "changed", skills.ErrChanged.Error(), "GET /skills/:name/review shows it as it is"}
	case errors.Is(err, skills.ErrNoShared):
		return problem{fiber.StatusConflict, "no_shared_skills", skills.ErrNoShared.Error(), "set DATA_DIR to a folder that can be written"}
	case errors.Is(err, orchestrator.ErrNoChecks):
		return problem{fiber.StatusUnprocessableEntity, "no_checks", orchestrator.ErrNoChecks.Error(), "add example or test to its front matter"}
	}
	return err
}
