package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/auth"
	"airlock/pii"
)

// eraseSession ends a session and forgets the values behind its tokens.
func (s *Server) eraseSession(c *fiber.Ctx) error {
	user, err := queryUser(c)
	if err != nil {
		return err
	}
	erased, err := s.eraseElsewhere(c)
	if err != nil {
		return err
	}
	err = s.opts.Service.EraseSession(s.ctx, user, ident.Session(c.Params("id")))
	if err != nil && !(erased && errors.Is(err, orchestrator.ErrNotFound)) {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// renameSession gives a session a title of its user's choice.
func (s *Server) renameSession(c *fiber.Ctx) error {
	var body struct {
		UserID string `json:"userId"`
		Title  string `json:"title"`
	}
	if err := decode(c, &body); err != nil {
		return err
	}
	user, err := user(c, cmp.Or(body.UserID, localOf(c)))
	if err != nil {
		return err
	}
	if err := s.opts.Service.Rename(user, ident.Session(c.Params("id")), pii.NewRaw(body.Title)); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// eraseUser erases everything of a user.
func (s *Server) eraseUser(c *fiber.Ctx) error {
	user, err := user(c, c.Params("userId"))
	if err != nil {
		return err
	}
	if _, ok := passedOn(c); ok {
		err = s.opts.Service.EraseUser(s.ctx, user)
	} else {
		err = s.eraseEverywhere(s.ctx, s.log(c), user, hostOf(c))
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// EraseUser erases everything of a user in this process and the others that live, as a
// request by the user would. It may be called again where not all could be reached.
func (s *Server) EraseUser(ctx context.Context, user ident.User) error {
	err := s.eraseEverywhere(ctx, s.opts.Log, user, "localhost:"+s.opts.Port)
	if told := (problem{}); errors.As(err, &told) {
		return fmt.Errorf("%w; %s", err, told.Hint)
	}
	return err
}

func (s *Server) eraseEverywhere(ctx context.Context, log *zap.Logger, user ident.User, host string) error {
	if err := s.opts.Service.AnnounceErasure(ctx, user); err != nil {
		return err
	}
	if s.opts.Peers != nil {
		caller := auth.Caller{User: user, Rights: auth.Rights{Run: true}}
		if _, err := s.eraseAtOthers(ctx, log, "/users/"+url.PathEscape(string(user)), host, caller); err != nil {
			return err
		}
	}
	return s.opts.Service.EraseUser(ctx, user)
}
