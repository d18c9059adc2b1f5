package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"go.uber.org/zap"

	"airlock/runtime/docker/internal/wire"
	"airlock/runtime/sandbox"
)

// helloTime is how long a new container's supervisor may take to say it is ready.
const helloTime = 30 * time.Second

// container is one container with a supervisor in it. It belongs to one session
// at a time.
type container struct {
	id      string
	engine  *engine
	folders folders
	limits  sandbox.Limits // that it has now
	gateway *gateway
	said    *tail

	conn   net.Conn
	sendMu sync.Mutex      // one frame at a time
	frames chan wire.Frame // closed when the stream has ended
	gone   chan struct{}   // closed with it
	failed error           // why the stream ended; to be read after gone
	quit   chan struct{}   // closed by hangUp: nobody reads frames any more
	hungUp sync.Once
}

// make makes a container and waits until its supervisor is ready.
func (b *Backend) make(ctx context.Context, folders folders) (*container, error) {
	if err := folders.hand(); err != nil {
		return nil, err
	}
	g, err := newGateway(b.instance, b.log)
	if err != nil {
		return nil, err
	}
	c := &container{
		engine: b.engine, folders: folders, limits: b.o.Limits, gateway: g, said: &tail{},
		frames: make(chan wire.Frame), gone: make(chan struct{}), quit: make(chan struct{}),
	}
	if err := c.begin(ctx, b, b.image.Load().(string)); err != nil {
		if errors.Is(err, errNoImage) {
			b.verified.Store(false) // there may be another one of that name
		}
		return nil, errors.Join(err, b.dispose(c))
	}
	return c, nil
}

// begin creates, attaches and starts, in this order, so that nothing said is lost.
func (c *container) begin(ctx context.Context, b *Backend, image string) error {
	config, host := b.config(image, c.gateway.dir, c.folders)
	made, err := c.engine.api.ContainerCreate(ctx, client.ContainerCreateOptions{Config: config, HostConfig: host})
	if err != nil {
		return c.engine.explain("create a container", err)
	}
	c.id = made.ID
	stream, err := c.engine.api.ContainerAttach(ctx, c.id, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return c.engine.explain("attach to a container", err)
	}
	c.conn = stream.Conn
	b.tasks.Go(func() { c.receive(&wire.Demux{Stream: stream.Reader, Stderr: c.said}) })
	if _, err := c.engine.api.ContainerStart(ctx, c.id, client.ContainerStartOptions{}); err != nil {
		return c.engine.explain("start a container", err)
	}
	return c.greet(ctx)
}

// greet waits for the supervisor's first frame.
func (c *container) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	select {
	case f, ok := <-c.frames:
		if !ok {
			return fmt.Errorf("start the supervisor: it ended at once%s", c.lastWords())
		}
		var hello wire.Greeting
		if err := json.Unmarshal(f.Payload, &hello); f.Kind != wire.Hello || err != nil {
			return fmt.Errorf("start the supervisor: %w: its first frame is no greeting; is this the sandbox's image?", wire.ErrProtocol)
		}
		if hello.Version != wire.Version {
			return fmt.Errorf("start the supervisor: the image speaks version %d of the protocol, airlock %d; run make sandbox-image", hello.Version, wire.Version)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("start the supervisor: %w%s", ctx.Err(), c.lastWords())
	}
}

// receive reads frames until the stream ends.
func (c *container) receive(r io.Reader) {
	defer close(c.gone)
	defer close(c.frames)
	for {
		f, err := wire.Read(r)
		if err != nil {
			c.failed = err
			return
		}
		select {
		case c.frames <- f:
		case <-c.quit:
			c.failed = net.ErrClosed
			return
		}
	}
}

// send sends a frame; a supervisor that does not read is given a while.
func (c *container) send(kind wire.Kind, payload []byte) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return err
	}
	return wire.Write(c.conn, kind, payload)
}

const sendTime = 5 * time.Second

// alive reports whether the supervisor's stream is open.
func (c *container) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// hangUp closes the stream, which must come before killing.
func (c *container) hangUp() {
	c.hungUp.Do(func() {
		close(c.quit)
		if c.conn != nil {
			c.conn.Close()
		}
	})
}

// kill ends all that runs in the container and returns when it has ended; its
// error means that this is not known.
func (c *container) kill() error {
	c.hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	return c.engine.kill(ctx, c.id)
}

// dispose ends a container and removes what there is of it. A container that
// could not be removed is removed by the keeper later.
func (b *Backend) dispose(c *container) error {
	c.hangUp()
	err := c.gateway.close()
	if c.id == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if failed := c.engine.remove(ctx, c.id); failed != nil {
		b.log.Warn("cannot remove a container now; trying again later", zap.String("container", c.id), zap.Error(failed))
		b.pool.discard(c.id)
	}
	return err
}

// lastWords is what the supervisor wrote to its standard error, for a message.
func (c *container) lastWords() string {
	if s := strings.TrimSpace(c.said.String()); s != "" {
		return "; it said: " + clean(s, 1000)
	}
	return ""
}

// tail keeps the beginning of what a supervisor says, where the reason of a crash
// stands, and drops the rest.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

const tailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), tailBytes-len(t.text))]...)
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
