package orchestrator

import (
	"context"
	"fmt"
	"io/fs"

	"airlock/pii"
	"airlock/workspace"
)

// ToldSkill is a skill as a model is told of it.
type ToldSkill struct {
	// Name is what Skill takes.
	Name, Path, Description pii.Tokenized
}

// Skills lists what the user's scripts can use.
func (c *Conversation) Skills() ([]ToldSkill, error) {
	session, leave, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	list, err := c.service.Skills(session.user)
	if err != nil {
		return nil, err
	}
	told := make([]ToldSkill, len(list))
	for i, k := range list {
		for _, part := range []struct {
			to   *pii.Tokenized
			from pii.Raw
		}{{&told[i].Name, pii.NewRaw(k.ID)}, {&told[i].Path, pii.NewRaw(k.Path)}, {&told[i].Description, k.Description}} {
			if *part.to, err = session.vault.Tokenize(part.from, pii.OriginUser); err != nil {
				return nil, fmt.Errorf("tokenize a skill for its list: %w", err)
			}
		}
	}
	return told, nil
}

// Skill returns a skill's text by a Name of Skills. The error wraps fs.ErrNotExist if
// there is none.
func (c *Conversation) Skill(name string) (pii.Tokenized, error) {
	session, leave, err := c.enter()
	if err != nil {
		return noText, err
	}
	defer leave()
	list, err := c.service.Skills(session.user)
	if err != nil {
		return noText, err
	}
	for _, k := range list {
		told, err := session.vault.Tokenize(pii.NewRaw(k.ID), pii.OriginUser)
		if err != nil {
			return noText, fmt.Errorf("tokenize the name of a skill: %w", err)
		}
		if told.String() != name {
			continue
		}
		_, text, err := c.service.Skill(session.user, k.ID)
		if err != nil {
			return noText, err
		}
		return session.vault.Tokenize(text, pii.OriginUser)
	}
	return noText, fmt.Errorf("skill: %w", fs.ErrNotExist)
}

// Artifacts lists the user's files, newest first.
func (c *Conversation) Artifacts() ([]Artifact, error) {
	session, leave, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	list, err := c.service.opts.Workspaces.List(session.key)
	if err != nil {
		return nil, err
	}
	return tellArtifacts(session.vault, list, script{})
}

// ToldFile is an artifact as a model may have it: either text or data.
type ToldFile struct {
	Artifact
	Text pii.Tokenized
	// Data is what is not text, if all who wrote it saw tokens only.
	Data []byte
}

// ErrUntold is returned for data of an artifact that may hold real values where no
// detector can find them.
var ErrUntold = fmt.Errorf("the file may hold real values, and is not text that could be searched for them: %w", fs.ErrPermission)

// Artifact reads one of the user's files of at most max bytes by a Name of Artifacts.
// Errors wrap those of io/fs, or workspace.ErrTooLarge.
func (c *Conversation) Artifact(ctx context.Context, name string, max int64) (ToldFile, error) {
	session, leave, err := c.enter()
	if err != nil {
		return ToldFile{}, err
	}
	defer leave()
	list, err := c.service.opts.Workspaces.List(session.key)
	if err != nil {
		return ToldFile{}, err
	}
	for _, a := range list {
		told, err := tellArtifacts(session.vault, []workspace.Artifact{a}, script{})
		if err != nil {
			return ToldFile{}, err
		}
		if told[0].Name.String() == name {
			return c.service.tellFile(ctx, session, a, told[0], max)
		}
	}
	return ToldFile{}, fmt.Errorf("artifact: %w", fs.ErrNotExist)
}

func (s *Service) tellFile(ctx context.Context, session *session, a workspace.Artifact, told Artifact, max int64) (ToldFile, error) {
	if a.Size > max {
		return ToldFile{}, fmt.Errorf("%w: it has %d bytes, of which %d can be read at once", workspace.ErrTooLarge, a.Size, max)
	}
	file, err := s.ReadArtifact(ctx, session.user, a.Name)
	if err != nil {
		return ToldFile{}, err
	}
	out := ToldFile{Artifact: told}
	if isText(file.Data) {
		out.Text, err = session.vault.Tokenize(pii.NewRaw(string(file.Data)), pii.OriginScript)
		return out, err
	}
	if len(file.Vaults) == 0 {
		return ToldFile{}, ErrUntold
	}
	for _, v := range file.Vaults {
		if v.HoldsUnseen() {
			return ToldFile{}, ErrUntold
		}
	}
	out.Data = file.Data
	return out, nil
}
