package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// replicas is how many servers of a cluster keep everything.
const replicas = 3

const (
	// makingTime is how long another process may take to make all streams.
	makingTime = 30 * time.Second
	// makeTime is how long one answer is waited for when a stream is made.
	makeTime = time.Second
)

// area is one stream, with the subjects airlock.<kind>.<owner>.<name>.
type area struct {
	store  *Store
	prefix string // of its subjects, with a dot at the end
	stream jetstream.Stream
	latest bool // only the latest value of a name
	blobs  *Blob
	disk   *disk // nil where others see to the disk
}

// kind says what a stream keeps of each subject, and for how long.
type kind struct {
	name   string
	latest bool          // only the latest value of a name
	age    time.Duration // 0 is for good
}

func (k kind) stream() string { return "AIRLOCK_" + strings.ToUpper(k.name) }

// The two stores of large values: what is kept for some time, and what is kept for
// good.
const (
	agingBlobs   = "AIRLOCK_BLOBS_AGING"
	lastingBlobs = "AIRLOCK_BLOBS_LASTING"
)

// openStreams opens all streams, or makes them all. Some but not all of them are a
// store that lost a part, which must not be taken for an empty one.
func (s *Store) openStreams(ctx context.Context) error {
	kinds := []kind{{name: "queue", latest: true}, {name: "events", age: Retention}, {name: "vaults"}, {name: "tasks", latest: true, age: Retention}, {name: "kept", latest: true}}
	missing, err := s.missing(ctx, kinds)
	for begun := time.Now(); err == nil && s.server == nil && len(missing) > 0 && len(missing) < len(kinds) && time.Since(begun) < makingTime; {
		if err = pause(ctx, time.Second); err == nil { // another process may be making them
			missing, err = s.missing(ctx, kinds)
		}
	}
	if err != nil {
		return err
	}
	if n := len(missing); n > 0 && n < len(kinds) {
		return fmt.Errorf("it lost %s while the rest is there; restore the whole store from a backup, or move it away to begin an empty one", strings.Join(missing, ", "))
	}
	aging, err := s.openBlobs(ctx, agingBlobs, Retention)
	if err != nil {
		return err
	}
	lasting, err := s.openBlobs(ctx, lastingBlobs, 0)
	if err != nil {
		return err
	}
	areas := make([]*area, len(kinds))
	for i, k := range kinds {
		blobs := lasting
		if k.age > 0 {
			blobs = aging
		}
		if areas[i], err = s.openArea(ctx, k, blobs); err != nil {
			return err
		}
	}
	s.queue, s.events, s.vaults = &KV{areas[0]}, &Log{areas[1]}, &Log{areas[2]}
	s.tasks, s.kept = &KV{areas[3]}, &KV{areas[4]}
	return s.keys.open(areas[4], s.opts.Key)
}

func (s *Store) areas() []*area {
	return []*area{s.queue.area, s.events.area, s.vaults.area, s.tasks.area, s.kept.area}
}

func (s *Store) missing(ctx context.Context, kinds []kind) (names []string, err error) {
	for _, k := range kinds {
		err := s.again(ctx, func(ctx context.Context) error {
			_, err := s.js.Stream(ctx, k.stream())
			return err
		})
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			names = append(names, k.stream())
		} else if err != nil {
			return nil, fmt.Errorf("look for the stream %s: %w", k.stream(), err)
		}
	}
	return names, nil
}

func (s *Store) openArea(ctx context.Context, k kind, blobs *Blob) (*area, error) {
	a := &area{store: s, prefix: "airlock." + k.name + ".", latest: k.latest, blobs: blobs}
	config := jetstream.StreamConfig{
		Name: k.stream(), Subjects: []string{a.prefix + ">"}, Storage: jetstream.FileStorage, Replicas: s.replicas(),
		MaxAge: k.age, MaxMsgsPerSubject: -1, AllowDirect: false, // what is read is what was written last, in a cluster too
	}
	if k.latest {
		config.MaxMsgsPerSubject = 1
	}
	var err error
	if a.stream, err = s.openStream(ctx, config); err != nil {
		return nil, err
	}
	if s.server != nil {
		a.disk = &disk{dir: filepath.Join(s.opts.Dir, server.JetStreamStoreDir, "$G", "streams", config.Name, "msgs")}
	}
	return a, nil
}

// openStream opens a stream, or makes it. A cluster that is asked by two processes at once
// to make one may leave an answer out.
func (s *Store) openStream(ctx context.Context, config jetstream.StreamConfig) (stream jetstream.Stream, err error) {
	err = s.againFor(ctx, makeTime, func(ctx context.Context) (err error) {
		stream, err = s.js.CreateOrUpdateStream(ctx, config)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the stream %s: %w", config.Name, err)
	}
	return stream, nil
}

func (s *Store) replicas() int {
	if s.server == nil && s.conn.ConnectedClusterName() != "" {
		return replicas
	}
	return 1
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$`)

func checkName(names ...string) error {
	for _, n := range names {
		if len(n) > 256 || !nameForm.MatchString(n) {
			return ErrName
		}
	}
	return nil
}

// subject is where a value is kept.
func (a *area) subject(owner, name string) (string, error) {
	if err := checkName(owner, name); err != nil {
		return "", err
	}
	return a.prefix + owner + "." + strings.ReplaceAll(name, "/", "."), nil
}

// placeOf is the owner and the name in a subject of the area.
func (a *area) placeOf(subject string) (owner, name string) {
	owner, name, _ = strings.Cut(strings.TrimPrefix(subject, a.prefix), ".")
	return owner, strings.ReplaceAll(name, ".", "/")
}

// put keeps a value, encrypted, and gives its number in the stream.
func (a *area) put(ctx context.Context, owner, name string, value []byte, how ...jetstream.PublishOpt) (uint64, error) {
	subject, err := a.subject(owner, name)
	if err != nil {
		return 0, err
	}
	aead, err := a.store.keys.of(ctx, owner)
	if err != nil {
		return 0, err
	}
	message := nats.NewMsg(subject)
	message.Data = aead.Seal(nil, nil, value, []byte(subject))
	blob := subject
	if !a.latest {
		blob += "." + rand.Text()
	}
	if err := a.blobs.moveOut(ctx, blob, message); err != nil {
		return 0, err
	}
	number, err := a.publish(ctx, message, how...)
	if isConflict(err) {
		return 0, ErrConflict
	}
	if err != nil {
		return 0, fmt.Errorf("keep a value in %s: %w", a.prefix, err)
	}
	return number, nil
}

// ErrConflict is returned when somebody else has written meanwhile.
var ErrConflict = errors.New("somebody else has written meanwhile")

func isConflict(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// load gives the last value under a name, and its number in the stream.
func (a *area) load(ctx context.Context, owner, name string) ([]byte, uint64, error) {
	subject, err := a.subject(owner, name)
	if err != nil {
		return nil, 0, err
	}
	message, err := a.last(ctx, subject)
	if err != nil {
		return nil, 0, notFound(err)
	}
	value, err := a.unseal(ctx, message)
	return value, message.Sequence, err
}

func notFound(err error) error {
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("nothing is kept under this name: %w", fs.ErrNotExist)
	}
	return fmt.Errorf("read a kept value: %w", err)
}

// unseal decrypts a message of the stream.
func (a *area) unseal(ctx context.Context, m *jetstream.RawStreamMsg) ([]byte, error) {
	owner, _ := a.placeOf(m.Subject)
	aead, err := a.store.keys.known(ctx, owner)
	if err != nil {
		return nil, err
	}
	sealed, err := a.blobs.moveIn(ctx, m)
	if err != nil {
		return nil, err
	}
	value, err := aead.Open(nil, nil, sealed, []byte(m.Subject))
	if err != nil {
		return nil, errors.New("a kept value does not open: it was changed, or its key is not the one it was kept with")
	}
	return value, nil
}

// purge deletes all that is kept under subjects that fit, given without the prefix.
func (a *area) purge(ctx context.Context, pattern string) error {
	err := a.store.again(ctx, func(ctx context.Context) error {
		return a.stream.Purge(ctx, jetstream.WithPurgeSubject(a.prefix+pattern))
	})
	if err != nil {
		return fmt.Errorf("delete kept values: %w", err)
	}
	return nil
}

// subjects lists the subjects that fit, given without the prefix.
func (a *area) subjects(ctx context.Context, pattern string) ([]string, error) {
	var info *jetstream.StreamInfo
	err := a.store.again(ctx, func(ctx context.Context) (err error) {
		info, err = a.stream.Info(ctx, jetstream.WithSubjectFilter(a.prefix+pattern))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list kept values: %w", err)
	}
	var all []string
	for subject := range info.State.Subjects {
		all = append(all, subject)
	}
	return all, nil
}
