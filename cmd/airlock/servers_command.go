package main

type serversCommand struct {
	List   serversList   `cmd:"" help:"List the servers of the catalog and what they miss."`
	Check  serversCheck  `cmd:"" help:"Check the catalog, and with --run every server of it."`
	Start  serversStart  `cmd:"" help:"Start one server, list its tools and stop it again."`
	Logs   serversLogs   `cmd:"" help:"Start one server and show what it writes to its standard error."`
	Import serversImport `cmd:"" help:"Turn another program's file of MCP servers into entries of the catalog."`
	Add    serversAdd    `cmd:"" help:"Add one server to the catalog."`
	Diff   serversDiff   `cmd:"" help:"Show what servers say of their tools now that they did not say when you approved them."`
	Login  serversLogin  `cmd:"" help:"Sign in to a remote server."`
	Logout serversLogout `cmd:"" help:"Forget the token for a remote server."`
}
