package orchestrator

import (
	"context"

	"airlock/ident"
	"airlock/pii"
	"airlock/workspace"
)

// maxArtifactBytes bounds what is read at once for a download.
const maxArtifactBytes = 64 << 20

// ArtifactFile is one artifact's content as its scripts left it: tokens in place
// of personal values.
type ArtifactFile struct {
	workspace.Artifact
	Data []byte
	// Vaults are those of the sessions that wrote it; each knows its own tokens.
	Vaults []*pii.Vault
}

// ReadArtifact returns one of the user's files. Its errors wrap those of io/fs.
func (s *Service) ReadArtifact(ctx context.Context, user ident.User, name string) (ArtifactFile, error) {
	key := s.opts.Pseudonym.User(user)
	if err := s.opts.Workspaces.FetchArtifacts(ctx, key); err != nil {
		return ArtifactFile{}, err
	}
	data, artifact, err := s.opts.Workspaces.ReadArtifact(key, name, maxArtifactBytes)
	if err != nil {
		return ArtifactFile{}, err
	}
	makers, err := s.kept.makers(ctx, key, artifactName(artifact.Name))
	if err != nil {
		return ArtifactFile{}, err
	}
	file := ArtifactFile{Artifact: artifact, Data: data}
	for _, id := range makers {
		vault := s.sessions.vault(id)
		if vault == nil {
			if vault, err = s.kept.opened(ctx, key, id); err != nil {
				return ArtifactFile{}, err
			}
		}
		if vault != nil {
			file.Vaults = append(file.Vaults, vault)
		}
	}
	return file, nil
}

// DeleteArtifact deletes one of the user's files, and what was kept to read it. Its
// errors wrap those of io/fs.
func (s *Service) DeleteArtifact(ctx context.Context, user ident.User, name string) error {
	key := s.opts.Pseudonym.User(user)
	if err := s.opts.Workspaces.FetchArtifacts(ctx, key); err != nil {
		return err
	}
	if err := s.opts.Workspaces.RemoveArtifact(key, name); err != nil {
		return err
	}
	if err := s.opts.Workspaces.KeepArtifacts(ctx, key); err != nil {
		return err
	}
	return s.dropArtifacts(ctx, key, []string{name})
}

// dropArtifacts forgets what was kept for a user's deleted files.
func (s *Service) dropArtifacts(ctx context.Context, key string, names []string) error {
	return s.kept.drop(ctx, key, names, func() ([]workspace.Artifact, error) { return s.opts.Workspaces.List(key) })
}
