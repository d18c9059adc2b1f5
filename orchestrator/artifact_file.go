package orchestrator

import (
	"airlock/ident"
	"airlock/pii"
	"airlock/workspace"
)

// maxArtifactBytes bounds what is read at once for a download.
const maxArtifactBytes = 64 << 20

// ArtifactFile is one artifact's content as its script left it: tokens in place
// of personal values.
type ArtifactFile struct {
	workspace.Artifact
	Data []byte
	// Vaults are those of the user's sessions; each knows its own tokens.
	Vaults []*pii.Vault
}

// ReadArtifact returns one of the user's files. Its errors wrap those of io/fs.
func (s *Service) ReadArtifact(user ident.User, name string) (ArtifactFile, error) {
	data, artifact, err := s.opts.Workspaces.ReadArtifact(s.opts.Pseudonym.User(user), name, maxArtifactBytes)
	if err != nil {
		return ArtifactFile{}, err
	}
	return ArtifactFile{Artifact: artifact, Data: data, Vaults: s.sessions.vaults(user)}, nil
}
