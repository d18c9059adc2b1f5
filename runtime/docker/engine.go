package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"go.opentelemetry.io/otel/trace/noop"

	"airlock/runtime/sandbox"
)

// endTime bounds the calls that end and remove a container.
const endTime = 30 * time.Second

// engine is the Docker engine, as far as sandboxes need it.
type engine struct {
	api   *client.Client
	image string
	host  string
	label string // the installation
}

func newEngine(o Options) (*engine, error) {
	options := []client.Opt{client.WithUserAgent("airlock"), client.WithTraceProvider(noop.NewTracerProvider())}
	if o.Host != "" {
		options = append(options, client.WithHost(o.Host))
	}
	api, err := client.New(options...)
	if err != nil {
		return nil, fmt.Errorf("engine address %q: %w", o.Host, err)
	}
	return &engine{api: api, image: o.Image, host: api.DaemonHost(), label: o.InstallationID}, nil
}

func (e *engine) close() error { return e.api.Close() }

// find returns the id of the image, so that what was tested is what is used.
func (e *engine) find(ctx context.Context) (string, error) {
	image, err := e.api.ImageInspect(ctx, e.image)
	if err != nil {
		return "", e.explain("look for the image", err)
	}
	return image.ID, nil
}

var (
	errNoEngine = errors.New("the Docker engine does not answer")
	errNoImage  = errors.New("the sandbox's image is missing")
	errNoSpace  = errors.New("the engine's disk is full")
)

// explain says what an error of the engine means and what to do about it.
func (e *engine) explain(doing string, err error) error {
	text := err.Error()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, fs.ErrPermission), strings.Contains(text, "permission denied while trying to connect"):
		return fmt.Errorf("%s: no permission to use the Docker engine at %s; add this user to the group docker, or run as root: %w", doing, e.host, fs.ErrPermission)
	case client.IsErrConnectionFailed(err), strings.Contains(text, "connection refused"), strings.Contains(text, "EOF"), strings.Contains(text, "connection reset"):
		return fmt.Errorf("%s: %w at %s; start it, or set SANDBOX_BACKEND=wasm", doing, errNoEngine, e.host)
	case errdefs.IsNotFound(err) && strings.Contains(strings.ToLower(text), "image"):
		return fmt.Errorf("%s %q: %w; run make sandbox-image", doing, e.image, errNoImage)
	case strings.Contains(text, "no space left on device"):
		return fmt.Errorf("%s: %w; remove what it does not need with docker system prune: %w", doing, errNoSpace, err)
	case strings.Contains(text, "unknown or invalid runtime name"):
		return fmt.Errorf("%s: the engine does not know this runtime; install it or set another: %w", doing, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// remove ends a container, if it still is there.
func (e *engine) remove(ctx context.Context, id string) error {
	_, err := e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) || strings.Contains(err.Error(), "is already in progress") {
		return nil
	}
	return e.explain("remove a container", err)
}

// kill ends what runs in a container and returns when it has ended. Its stream
// must be closed before, or the engine waits for somebody to read it.
func (e *engine) kill(ctx context.Context, id string) error {
	_, err := e.api.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
	if err == nil || errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return e.explain("kill a container", err)
}

// ranOut reports whether the kernel ended something in the container for want of
// memory.
func (e *engine) ranOut(ctx context.Context, id string) bool {
	c, err := e.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	return err == nil && c.Container.State != nil && c.Container.State.OOMKilled
}

// limit changes a running container's limits.
func (e *engine) limit(ctx context.Context, id string, l sandbox.Limits, runtime string) error {
	resources := resources(l, runtime)
	_, err := e.api.ContainerUpdate(ctx, id, client.ContainerUpdateOptions{Resources: &resources})
	if err != nil {
		return e.explain("change a container's limits", err)
	}
	return nil
}
