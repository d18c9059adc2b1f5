package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"airlock/ident"
	"airlock/pii"
	"airlock/workspace"
)

// keeper keeps, beyond the life of a session, what its artifacts need to be read
// by their user: the sealed vault, and which sessions' tokens a file may hold.
type keeper struct {
	store  pii.Store
	key    []byte
	vaults pii.VaultOptions

	mu sync.Mutex // one change of what is kept at a time
}

// keep saves the session's vault with the artifacts that were just made.
func (k *keeper) keep(ctx context.Context, s *session, made []workspace.Artifact) error {
	if len(made) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.store.Put(ctx, ownerName(s.key, s.id), []byte{}); err != nil {
		return fmt.Errorf("keep the session's owner: %w", err)
	}
	if err := s.vault.Save(ctx, k.store, s.id, k.key); err != nil {
		return err
	}
	for _, a := range made {
		if err := k.addSession(ctx, makersName(s.key, a.Name), s.id); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) addSession(ctx context.Context, name string, id ident.Session) error {
	makers, err := k.makers(ctx, name)
	if err != nil || slices.Contains(makers, id) {
		return err
	}
	text, err := json.Marshal(append(makers, id))
	if err != nil {
		return fmt.Errorf("encode the sessions of an artifact: %w", err)
	}
	if err := k.store.Put(ctx, name, text); err != nil {
		return fmt.Errorf("keep the sessions of an artifact: %w", err)
	}
	return nil
}

// makers are the sessions that have written an artifact.
func (k *keeper) makers(ctx context.Context, name string) ([]ident.Session, error) {
	text, err := k.store.Get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the sessions of an artifact: %w", err)
	}
	var ids []ident.Session
	if err := json.Unmarshal(text, &ids); err != nil {
		return nil, fmt.Errorf("the sessions of an artifact are damaged: %w", err)
	}
	return ids, nil
}

// drop forgets which sessions wrote the files of a user that are gone, and the vaults
// that no file needs any more. left lists the files that are there; it is asked while
// nothing else is kept, so that no new file is overlooked.
func (k *keeper) drop(ctx context.Context, userKey string, gone []string, left func() ([]workspace.Artifact, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	files, err := left()
	if err != nil {
		return fmt.Errorf("list artifacts: %w", err)
	}
	needed := map[ident.Session]bool{}
	for _, f := range files {
		makers, err := k.makers(ctx, makersName(userKey, f.Name))
		if err != nil {
			return err
		}
		for _, id := range makers {
			needed[id] = true
		}
		gone = slices.DeleteFunc(gone, func(name string) bool { return name == f.Name }) // made anew
	}
	var errs []error
	for _, name := range gone {
		errs = append(errs, k.dropOne(ctx, userKey, name, needed))
	}
	return errors.Join(errs...)
}

func (k *keeper) dropOne(ctx context.Context, userKey, name string, needed map[ident.Session]bool) error {
	makers, err := k.makers(ctx, makersName(userKey, name))
	if err != nil {
		return err
	}
	for _, id := range makers {
		if needed[id] {
			continue
		}
		if _, err := k.forget(ctx, userKey, id); err != nil {
			return err
		}
	}
	if err := k.store.Delete(ctx, makersName(userKey, name)); err != nil {
		return fmt.Errorf("forget the sessions of an artifact: %w", err)
	}
	return nil
}

// load opens the vault of a session that has ended; nil if it was erased.
func (k *keeper) load(ctx context.Context, id ident.Session) (*pii.Vault, error) {
	v, err := pii.LoadVault(ctx, k.store, id, k.key, k.vaults)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return v, err
}

// forget erases the vault of a user's session. It reports whether there was one.
func (k *keeper) forget(ctx context.Context, userKey string, id ident.Session) (bool, error) {
	if _, err := k.store.Get(ctx, ownerName(userKey, id)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("look for the session: %w", err)
	}
	if err := pii.DeleteVault(ctx, k.store, id); err != nil {
		return true, err
	}
	if err := k.store.Delete(ctx, ownerName(userKey, id)); err != nil {
		return true, fmt.Errorf("forget the session's owner: %w", err)
	}
	return true, nil
}

func ownerName(userKey string, id ident.Session) string {
	return "sessions/" + userKey + "/" + string(id)
}

// makersName hashes the artifact's name, which its script chose.
func makersName(userKey, artifact string) string {
	sum := sha256.Sum256([]byte(artifact))
	return "artifacts/" + userKey + "/" + hex.EncodeToString(sum[:])
}
