package api

import (
	"errors"
	"io/fs"
	"mime"
	"net/url"
	"path"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
	"airlock/pii"
)

func (s *Server) listArtifacts(c *fiber.Ctx) error {
	user, err := user(c, c.Params("userId"))
	if err != nil {
		return err
	}
	list, err := s.opts.Service.Artifacts(s.ctx, user)
	if err != nil {
		return err
	}
	show, err := s.rawAs(c)
	if err != nil {
		return err
	}
	views := []artifactView{}
	for _, a := range list {
		name, err := show(pii.NewRaw(a.Name))
		if err != nil {
			return err
		}
		views = append(views, artifactView{Name: name, Size: a.Size, MIME: a.MIME})
	}
	return c.JSON(fiber.Map{"artifacts": views, "count": len(views)})
}

// getArtifact sends a file as a download, never for display: what scripts leave
// is not trusted to run in a browser.
func (s *Server) getArtifact(c *fiber.Ctx) error {
	user, name, err := artifactOf(c)
	if err != nil {
		return err
	}
	file, err := s.opts.Service.ReadArtifact(s.ctx, user, name)
	if err != nil {
		return artifactProblem(err)
	}
	present := s.presentFile
	if c.QueryBool("tokenized") {
		present = s.sealFile
	}
	data, err := present(c, file)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, file.MIME)
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'; sandbox") // should a browser show it all the same
	c.Set(fiber.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	return c.Send(data)
}

// deleteArtifact deletes a file for good.
func (s *Server) deleteArtifact(c *fiber.Ctx) error {
	user, name, err := artifactOf(c)
	if err != nil {
		return err
	}
	if err := s.opts.Service.DeleteArtifact(s.ctx, user, name); err != nil {
		return artifactProblem(err)
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// artifactOf is the file that a request means.
func artifactOf(c *fiber.Ctx) (ident.User, string, error) {
	user, err := user(c, c.Params("userId"))
	if err != nil {
		return "", "", err
	}
	name, err := url.PathUnescape(c.Params("+"))
	if err != nil {
		return "", "", badBody("the name is not properly escaped")
	}
	return user, name, nil
}

func artifactProblem(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem{fiber.StatusNotFound, "not_found", "there is no artifact of that name", "GET /artifacts/:userId lists them"}
	case errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrPermission):
		return problem{fiber.StatusBadRequest, "invalid_name", "that is not the name of an artifact", "use a name from GET /artifacts/:userId"}
	}
	return err
}
