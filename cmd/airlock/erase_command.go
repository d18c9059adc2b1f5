package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"airlock/ident"
)

type eraseCommand struct {
	User string `arg:"" help:"User to erase."`
	JSON bool   `help:"Print JSON."`
}

// Run erases a user in the process that serves from the data folder, or, where none
// does, in the store itself.
func (e eraseCommand) Run(ctx context.Context, c *Config, std streams) error {
	user, err := ident.ParseUser(e.User)
	if err != nil {
		return usageError{err}
	}
	served, err := c.eraseThroughControl(ctx, user)
	if !served {
		err = c.eraseHere(ctx, user, std)
	}
	if err != nil {
		return fmt.Errorf("erase %s: %w", user, err)
	}
	if e.JSON {
		return printJSON(std.out, map[string]ident.User{"erased": user})
	}
	fmt.Fprintf(std.err, "erased everything of %s but API keys; airlock keys revoke ends those\n", user)
	return nil
}

// eraseHere erases a user in the store of the data folder, which nobody else may have.
func (c *Config) eraseHere(ctx context.Context, user ident.User, std streams) error {
	cl, err := c.light().connect(std)
	if err != nil {
		return err
	}
	if cl.system.aside {
		err = errors.New("another airlock process has the store of DATA_DIR and takes no commands; end it first, or ask a server by DELETE /users/:userId")
	} else {
		err = cl.system.api.EraseUser(ctx, user)
	}
	return errors.Join(err, cl.system.Close())
}

// eraseFor erases a user for another process.
func (s *system) eraseFor(ctx context.Context, user ident.User, conn net.Conn) error {
	var answer controlAnswer
	if err := s.api.EraseUser(ctx, user); err != nil {
		answer.Error = err.Error()
	}
	return json.NewEncoder(conn).Encode(answer)
}

// eraseThroughControl has the process that serves from the data folder erase a user. It
// reports whether there is one.
func (c *Config) eraseThroughControl(ctx context.Context, user ident.User) (bool, error) {
	conn, release, err := c.dialControl(ctx, controlRequest{Erase: true, As: user})
	if conn == nil {
		return err != nil, err
	}
	defer release()
	var answer controlAnswer
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return true, fmt.Errorf("the airlock that serves from %s did not say what came of it: %w", c.DataDir, err)
	}
	if answer.Error != "" {
		return true, errors.New(answer.Error)
	}
	return true, nil
}
