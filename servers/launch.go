package servers

// launch is how a server is reached, inputs filled in. It may hold secrets, so
// an Entry keeps a pointer to it, which prints as an address.
type launch struct {
	command     string
	args        []string
	env         map[string]string
	inheritEnv  []string
	cwd         string // absolute
	packageType string
	packageName string
	packageVer  string
	url         string
	headers     map[string]string
	oauth       oauthClient
	// folder means that args, env or cwd name the instance's folder.
	folder bool
	// ownFolder is that folder, once there is an instance.
	ownFolder string
	// isolation is nil for a server that runs with the rights of airlock.
	isolation *isolation
	// missing names the inputs that could not be filled in.
	missing []string
}

// oauthClient is airlock as a remote server's authorization server knows it.
type oauthClient struct {
	id, secret string
	scopes     []string
	port       int
}

// isolation is what an isolated server may do.
type isolation struct {
	network  bool
	memoryMB int      // 0: as much as the host gives
	write    []string // absolute
}
