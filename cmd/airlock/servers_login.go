package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"airlock/servers"
	"airlock/servers/oauth"
)

type serversLogin struct {
	Name string        `arg:"" help:"The server, by its name in the catalog."`
	Wait time.Duration `default:"5m" help:"How long to wait for you to sign in."`
}

// Run signs in to a remote server with a browser.
func (l serversLogin) Run(ctx context.Context, c *Config, std streams) error {
	catalog, err := servers.LoadCatalog(c.Catalog, os.LookupEnv)
	if err != nil {
		return usageError{err}
	}
	remote, err := catalog.Remote(l.Name)
	if err != nil {
		return usageError{err}
	}
	tokens, release, err := c.tokens()
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, l.Wait)
	defer cancel()
	err = tokens.Login(ctx, oauth.Login{
		Server: l.Name, URL: remote.URL, ClientID: remote.ClientID, ClientSecret: remote.ClientSecret, Scopes: remote.Scopes, Port: remote.Port,
		Show: func(address, authority string) error {
			_, err := fmt.Fprintf(std.err, "Open this address in a browser on this machine and sign in at %q:\n\n  %s\n\nwaiting\n", authority, address)
			return err
		},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "signed in to %s\n", l.Name)
	return nil
}

type serversLogout struct {
	Name string `arg:"" help:"The server, by its name in the catalog."`
}

// Run forgets the token for a server. The server is not told.
func (l serversLogout) Run(ctx context.Context, c *Config, std streams) error {
	catalog, err := servers.LoadCatalog(c.Catalog, os.LookupEnv)
	if err != nil {
		return usageError{err}
	}
	if _, err := catalog.Remote(l.Name); err != nil {
		return usageError{err}
	}
	tokens, release, err := c.tokens()
	if err != nil {
		return err
	}
	defer release()
	if err := tokens.Logout(ctx, l.Name); err != nil {
		return err
	}
	fmt.Fprintf(std.out, "signed out of %s\n", l.Name)
	return nil
}

func (c *Config) tokens() (*oauth.Client, func(), error) {
	k, err := c.openKeys()
	if err != nil {
		return nil, nil, err
	}
	tokens, release, err := c.openTokens(k)
	if err != nil {
		return nil, nil, err
	}
	return tokens, func() { _ = release() }, nil
}
