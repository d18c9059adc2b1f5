package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/client"
	"go.uber.org/zap"
)

// keepTime is how often the keeper looks for what could not be removed before.
const keepTime = 30 * time.Second

// keep removes what earlier processes left, tests the isolation, keeps spares
// ready and removes what could not be removed, until the backend is closed.
func (b *Backend) keep(ctx context.Context) {
	defer b.dropSpares()
	for failures := 0; ctx.Err() == nil; {
		changed, err := b.tend(ctx, failures == 0)
		pause := keepTime
		if err != nil && ctx.Err() == nil {
			if failures == 0 && b.worked.Load() { // once for each time that it breaks; before that, Check says it
				b.log.Error("the docker sandbox does not work any more", zap.Error(err))
			}
			failures++
			pause, changed = min(time.Duration(failures)*500*time.Millisecond, 10*time.Second), nil
		} else {
			failures = 0
		}
		rest(ctx, pause, changed)
	}
}

// rest waits until something changed, or for a pause.
func rest(ctx context.Context, pause time.Duration, changed <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-ctx.Done():
	}
}

// tend does what is to be done now, and returns what to wait for before the next
// time.
func (b *Backend) tend(ctx context.Context, well bool) (<-chan struct{}, error) {
	if !b.verified.Load() || !well {
		if err := b.engine.sweep(ctx, b.o.Dir, b.instance.name); err != nil {
			return nil, err
		}
	}
	if err := b.verify(ctx); err != nil {
		return nil, err
	}
	for _, id := range b.pool.takeTrash() {
		if err := b.engine.remove(ctx, id); err != nil {
			b.pool.discard(id)
			return nil, err
		}
	}
	bare, err := b.foldersOf(nil)
	if err != nil {
		return nil, err
	}
	missing, dead, changed := b.pool.missing()
	for _, c := range dead {
		b.pool.drop(c)
	}
	for range missing {
		if err := b.pool.spare(ctx, bare); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// dropSpares ends the spares when the backend closes.
func (b *Backend) dropSpares() {
	b.pool.mu.Lock()
	spares := b.pool.spares
	b.pool.spares = nil
	b.pool.mu.Unlock()
	for _, c := range spares {
		b.pool.drop(c)
	}
}

// sweep removes the containers and folders of processes that are gone.
func (e *engine) sweep(ctx context.Context, dir, own string) error {
	list, err := e.list(ctx, nil)
	if err != nil {
		return err
	}
	gone := map[string]bool{own: false}
	for _, name := range abandoned(dir) {
		if name != own {
			gone[name] = ownerless(dir, name)
		}
	}
	var errs []error
	for id, name := range list {
		if _, known := gone[name]; !known {
			gone[name] = ownerless(dir, name)
		}
		if gone[name] {
			errs = append(errs, e.remove(ctx, id))
		}
	}
	return errors.Join(errs...)
}

// removeAll removes the containers of a process.
func (e *engine) removeAll(ctx context.Context, instance string) error {
	list, err := e.list(ctx, client.Filters{}.Add("label", labelInstance+"="+instance))
	if errors.Is(err, errNoEngine) {
		return nil // nothing runs; the next process removes what is left
	}
	if err != nil {
		return err
	}
	var errs []error
	for id := range list {
		errs = append(errs, e.remove(ctx, id))
	}
	return errors.Join(errs...)
}

// list returns the installation's containers with the instances they belong to.
func (e *engine) list(ctx context.Context, filters client.Filters) (map[string]string, error) {
	filters = filters.Clone()
	if filters == nil {
		filters = client.Filters{}
	}
	filters.Add("label", labelSandbox+"=1").Add("label", labelInstallation+"="+e.label)
	found, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	if err != nil {
		return nil, e.explain("list containers", err)
	}
	list := map[string]string{}
	for _, c := range found.Items {
		list[c.ID] = c.Labels[labelInstance]
	}
	return list, nil
}

// verify tests the isolation, once.
func (b *Backend) verify(ctx context.Context) error {
	if b.verified.Load() {
		return nil
	}
	select {
	case b.verifying <- struct{}{}:
		defer func() { <-b.verifying }()
	case <-ctx.Done():
		return fmt.Errorf("wait for the isolation's test: %w", context.Cause(ctx))
	}
	if b.verified.Load() {
		return nil
	}
	image, err := b.engine.find(ctx)
	if err != nil {
		return err
	}
	b.image.Store(image)
	if err := b.testIsolation(ctx); err != nil {
		return err
	}
	b.verified.Store(true)
	b.worked.Store(true)
	return nil
}
