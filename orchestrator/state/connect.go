package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

const (
	// startTime bounds how long the server in this process may take to start: after
	// a crash it reads all that it holds.
	startTime = time.Minute
	// syncInterval is how soon what nobody waits for is on the disk.
	syncInterval = time.Second
	// reconnectWait is how long to wait before a server of the cluster is tried again,
	// pingEvery how often it is asked whether it is there: the second time that it does
	// not answer, another one is taken.
	reconnectWait = 500 * time.Millisecond
	pingEvery     = 2 * time.Second
	// oldest is the version of an external server from which on its streams do what
	// is asked of them here.
	oldestMajor, oldestMinor = 2, 11
)

func (s *Store) connect() error {
	if s.opts.URL != "" {
		return s.dial()
	}
	if s.opts.Dir == "" {
		return errors.New("neither a folder nor a URL is given")
	}
	if err := os.MkdirAll(s.opts.Dir, 0o700); err != nil {
		return err
	}
	var err error
	if s.lock, err = lockFolder(filepath.Join(s.opts.Dir, "lock")); err != nil {
		return err
	}
	return s.embed()
}

// embed starts the server in this process. Only this process can reach it.
func (s *Store) embed() error {
	var err error
	s.server, err = server.NewServer(&server.Options{
		ServerName: "airlock", DontListen: true, NoSigs: true,
		JetStream: true, StoreDir: s.opts.Dir, SyncInterval: syncInterval,
	})
	if err != nil {
		return fmt.Errorf("start its server: %w", err)
	}
	s.server.SetLoggerV2(serverLog{s.opts.Log.Sugar()}, false, false, false)
	s.server.Start()
	if !s.server.ReadyForConnections(startTime) || !s.server.JetStreamEnabled() {
		return fmt.Errorf("its server did not start within %v; look at the log for the reason", startTime)
	}
	s.conn, err = nats.Connect("", nats.InProcessServer(s.server), nats.Name("airlock"))
	return err
}

func (s *Store) dial() error {
	var err error
	s.conn, err = nats.Connect(s.opts.URL, nats.Name("airlock"), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.PingInterval(pingEvery),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				s.opts.Log.Warn("lost the NATS server", zap.Error(err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			s.opts.Log.Info("connected to a NATS server again")
			s.keys.forget("") // what others have destroyed meanwhile was not heard of
		}))
	if err != nil {
		return fmt.Errorf("connect to NATS_URL: %w", err)
	}
	return checkVersion(s.conn.ConnectedServerVersion())
}

func checkVersion(version string) error {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) == 3 {
		major, err1 := strconv.Atoi(parts[0])
		minor, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil && (major > oldestMajor || major == oldestMajor && minor >= oldestMinor) {
			return nil
		}
	}
	return fmt.Errorf("the NATS server at NATS_URL is of version %q; airlock needs %d.%d or newer", version, oldestMajor, oldestMinor)
}

// serverLog passes on what the server in this process warns of.
type serverLog struct{ log *zap.SugaredLogger }

func (l serverLog) Noticef(string, ...any)            {}
func (l serverLog) Debugf(string, ...any)             {}
func (l serverLog) Tracef(string, ...any)             {}
func (l serverLog) Warnf(format string, args ...any)  { l.log.Warnf("store: "+format, args...) }
func (l serverLog) Errorf(format string, args ...any) { l.log.Errorf("store: "+format, args...) }
func (l serverLog) Fatalf(format string, args ...any) { l.log.Errorf("store: "+format, args...) }
