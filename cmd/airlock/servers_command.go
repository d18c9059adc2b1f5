package main

type serversCommand struct {
	Login  serversLogin  `cmd:"" help:"Sign in to a remote server."`
	Logout serversLogout `cmd:"" help:"Forget the token for a remote server."`
}
