package main

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/api"
	"airlock/orchestrator/auth"
	"airlock/orchestrator/metrics"
	"airlock/orchestrator/state"
	"airlock/orchestrator/tracing"
	"airlock/orchestrator/web"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/wasm"
	"airlock/servers"
	"airlock/skills"
	"airlock/workspace"
)

// system is all parts of airlock, wired.
type system struct {
	api     *api.Server
	service *orchestrator.Service
	manager *servers.Manager
	wasm    *wasm.Backend
	callers auth.Store     // of the API keys, which other processes use too
	members *state.Members // that share the store; nil for a store of this process alone
	keys    keys
	metrics *metrics.Metrics
	aside   bool           // its store is not that of the data folder, which another process has
	closers []func() error // in the order to close in
}

// shopSeed makes the sample shop the same on every machine, so that figures in
// the documents hold.
const shopSeed = 1

// shutdownTimeout bounds how long open requests may take to end.
const shutdownTimeout = 10 * time.Second

// tracesTimeout bounds how long the last spans may take to be sent.
const tracesTimeout = 5 * time.Second

func (s *system) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	var errs []error
	if s.api != nil {
		errs = append(errs, s.api.Shutdown(ctx))
	}
	for _, f := range s.closers {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// open builds the system from the inside out. What was built is closed again if
// a later part fails.
func (c *Config) open(log *zap.Logger) (_ *system, err error) {
	s := &system{metrics: metrics.New()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	keys, err := c.openKeys()
	if err != nil {
		return nil, err
	}
	if err := c.openServers(s, keys, log); err != nil {
		return nil, err
	}
	approvals := orchestrator.NewApprovals(time.Duration(c.ApprovalTimeoutMs) * time.Millisecond)
	guard, err := c.openBridge(s, approvals, keys, log)
	if err != nil {
		return nil, err
	}
	if err := c.openService(s, guard, approvals, keys, log); err != nil {
		return nil, err
	}
	s.keys = keys
	s.api, err = c.newAPI(s, nil, api.Rate{}, log)
	return s, err
}

// newAPI makes the API of the system. Without an authenticator it is the commands'
// own way in.
func (c *Config) newAPI(s *system, callers api.Authenticator, rate api.Rate, log *zap.Logger) (*api.Server, error) {
	m, err := c.chooseModel()
	if err != nil {
		return nil, err
	}
	o := api.Options{
		About: api.About{Version: version(), Model: m.String(), PIIMode: c.PIIMode}, Servers: s.manager,
		Service: s.service, Hosts: c.hosts(), Port: strconv.Itoa(c.Port), Origins: c.AllowedOrigins, PublicURL: c.PublicURL,
		Models: c.modelNames(), Metrics: s.metrics.Handler(), Authenticator: callers, Rights: auth.Rights{Run: true, Reveal: true, Approve: true}, Rate: rate, Log: log,
		Page: func(client *http.Client, baseURL string) (http.Handler, error) {
			return web.New(web.Options{API: client, BaseURL: baseURL, Key: s.keys.page, SignIn: callers != nil, Log: log})
		},
	}
	if s.members != nil {
		o.Peers = s.members
		if o.PeerTokens, err = auth.NewPeers(s.keys.peers); err != nil {
			return nil, err
		}
	}
	return api.New(o)
}

func (c *Config) openBridge(s *system, approver bridge.Approver, k keys, log *zap.Logger) (*bridge.Bridge, error) {
	audit, err := os.OpenFile(filepath.Join(c.DataDir, "audit.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	s.closers = append(s.closers, audit.Close)
	return bridge.New(bridge.Options{
		Secret: k.session, TokenTTL: time.Duration(c.TokenExpiration) * time.Second, Limits: bridge.DefaultLimits(),
		Upstreams: s.manager, Approver: approver, Audit: audit, Pseudonym: k.pseudonym, Log: log,
	})
}

func (c *Config) openService(s *system, guard *bridge.Bridge, approvals *orchestrator.Approvals, k keys, log *zap.Logger) error {
	provider, models, err := c.openModels()
	if err != nil {
		return err
	}
	fallback, err := c.fallback()
	if err != nil {
		return err
	}
	detector, err := c.openDetector()
	if err != nil {
		return err
	}
	kept, err := c.openStores(s, detector, k, log)
	if err != nil {
		return err
	}
	backends, err := c.openSandboxes(s, kept.skills, k, log)
	if err != nil {
		return err
	}
	notes, err := c.openNotes(s)
	if err != nil {
		return err
	}
	tracer, err := c.openTraces(s, log)
	if err != nil {
		return err
	}
	s.service, err = orchestrator.New(orchestrator.Options{
		Provider: provider, Models: models, Fallback: fallback, Backends: backends, Bridge: guard, Approvals: approvals, Skills: kept.skills, Workspaces: kept.workspaces,
		Vaults: pii.VaultOptions{Detector: detector, Mode: c.piiMode()}, State: stateOf(kept.state, s.members, notes), StateKey: k.state,
		Pseudonym: k.pseudonym, Servers: s.manager, StubsDir: filepath.Join(c.DataDir, "stubs"), Limits: c.limits(), ArtifactAge: time.Duration(c.ArtifactRetentionDays) * 24 * time.Hour, Observer: s.metrics, Tracer: tracer, Log: log,
	})
	if err != nil {
		return err
	}
	s.closers = append([]func() error{s.service.Close}, s.closers...)
	return nil
}

// openTraces makes what spans come from, nil where no collector is named. What is left
// is sent when all else has ended.
func (c *Config) openTraces(s *system, log *zap.Logger) (trace.Tracer, error) {
	if c.OTLPEndpoint == "" {
		return nil, nil
	}
	traces, err := tracing.New(context.Background(), tracing.Options{
		Endpoint: c.OTLPEndpoint, Version: version(),
		Failed: func(err error) { log.Warn("spans could not be sent and are lost", zap.Error(err)) },
	})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), tracesTimeout)
		defer cancel()
		return traces.Close(ctx)
	})
	return traces.Tracer(), nil
}

// stores are what lies in the data folder.
type stores struct {
	skills     *skills.Store
	workspaces *workspace.Store
	state      *state.Store
}

func (c *Config) openStores(s *system, detector *detect.Detector, secrets keys, log *zap.Logger) (k stores, err error) {
	if k.state, err = c.openStore(s, secrets, log); err != nil {
		return k, err
	}
	folders, err := c.openMirror(s, k.state)
	if err != nil {
		return k, err
	}
	shared, users := filepath.Join(c.DataDir, "skills", "shared"), filepath.Join(c.DataDir, "skills", "users")
	k.skills, err = skills.New(skills.Options{Library: skills.Library(), SharedDir: shared, UsersDir: users, Detector: detector, Mirror: folders})
	if err != nil {
		return k, fmt.Errorf("open the skills: %w", err)
	}
	s.closers = append(s.closers, k.skills.Close)
	if err := k.skills.KeepShared(); err != nil {
		return k, err
	}
	if k.workspaces, err = workspace.New(workspace.Options{Dir: c.DataDir, Mirror: folders}); err != nil {
		return k, fmt.Errorf("open the workspaces: %w", err)
	}
	s.closers = append(s.closers, k.workspaces.Close)
	var closeCallers func() error
	if s.callers, closeCallers, err = c.openCallerKeys(k.state); err != nil {
		return k, err
	}
	s.closers = append(s.closers, closeCallers)
	release, err := lockData(filepath.Join(c.DataDir, "lock"), func() error {
		if s.aside {
			return nil
		}
		return errors.Join(k.cleanUp(s.manager), removeAside(c.DataDir))
	})
	if err != nil {
		return k, err
	}
	s.closers = append(s.closers, release)
	return k, nil
}

// cleanUp removes what earlier processes left of sessions that have ended.
func (k stores) cleanUp(m *servers.Manager) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTime)
	defer cancel()
	live, err := orchestrator.LiveSessions(ctx, k.state.Kept())
	if err != nil {
		return err
	}
	return errors.Join(k.workspaces.Prune(live), k.skills.Prune(), m.Prune())
}

const cleanUpTime = time.Minute

func (c *Config) piiMode() pii.Mode {
	if c.PIIMode == "open" {
		return pii.Open
	}
	return pii.Sealed
}

func (c *Config) openDetector() (*detect.Detector, error) {
	text, err := textOrFile("PII_CUSTOM_PATTERNS", c.PIICustomPatterns)
	if err != nil {
		return nil, err
	}
	custom := map[string]string{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &custom); err != nil {
			return nil, usageError{errors.New(`PII_CUSTOM_PATTERNS is not a JSON object of strings such as {"EMPLOYEE_ID":"EMP-[0-9]{6}"}`)}
		}
	}
	d, err := detect.New(detect.Options{Packs: c.PIIPacks, Custom: custom})
	if err != nil {
		return nil, usageError{fmt.Errorf("PII_PACKS, PII_CUSTOM_PATTERNS: %w", err)}
	}
	return d, nil
}

// keys are the secrets of one installation.
type keys struct {
	session   []byte // signs session tokens
	state     []byte // seals what is kept of sessions
	store     []byte // encrypts the store
	callers   []byte // seals the API keys
	upstream  []byte // seals the tokens for remote servers
	page      []byte // seals the cookies of the web page
	peers     []byte // signs what processes that share the store say to each other; nil for one alone
	name      string // of the installation, for what it leaves outside of its folder
	pseudonym ident.Pseudonym
}

// openKeys reads the installation's key, made at first start, and derives the
// others from it.
func (c *Config) openKeys() (keys, error) {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return keys{}, usageError{fmt.Errorf("DATA_DIR: %w", err)}
	}
	master, err := c.masterKey()
	if err != nil {
		return keys{}, err
	}
	k := keys{session: []byte(c.SessionSecret)}
	var naming []byte
	for _, derived := range []struct {
		key     *[]byte
		purpose string
	}{
		{&naming, "airlock pseudonyms"}, {&k.state, "airlock sealed state"}, {&k.store, "airlock store"},
		{&k.callers, "airlock api keys"}, {&k.upstream, "airlock tokens of remote servers"},
		{&k.page, "airlock cookies of the web page"},
	} {
		if *derived.key, err = hkdf.Key(sha256.New, master, nil, derived.purpose, sha256.Size); err != nil {
			return keys{}, fmt.Errorf("derive the key for %s: %w", derived.purpose, err)
		}
	}
	k.pseudonym = ident.NewPseudonym(naming)
	k.name = k.pseudonym.Text("installation")[:16]
	if c.SessionSecret == "" {
		k.session = make([]byte, 32)
		if _, err := rand.Read(k.session); err != nil {
			return keys{}, fmt.Errorf("make a session secret: %w", err)
		}
	}
	if c.NATSURL != "" {
		if k.peers, err = hkdf.Key(sha256.New, k.session, nil, "airlock requests between processes", sha256.Size); err != nil {
			return keys{}, fmt.Errorf("derive the key for requests between processes: %w", err)
		}
	}
	return k, nil
}

// masterKey is the installation's key: the one that is set, or that of its file.
func (c *Config) masterKey() ([]byte, error) {
	if c.StoreKey != "" {
		return parseKey(c.StoreKey)
	}
	return keyFile(filepath.Join(c.DataDir, "store.key"))
}

// parseKey reads the 64 hexadecimal digits of a key.
func parseKey(text string) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != state.KeySize {
		return nil, errors.New("must be 64 hexadecimal digits, such as openssl rand -hex 32 prints")
	}
	return key, nil
}

// keyFile reads a key file, or makes one that only its owner can read.
func keyFile(path string) ([]byte, error) {
	fresh := make([]byte, 32)
	if _, err := rand.Read(fresh); err != nil {
		return nil, fmt.Errorf("make a store key: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = io.WriteString(f, hex.EncodeToString(fresh)+"\n")
		return fresh, errors.Join(err, f.Close())
	}
	if !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make the store key: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the store key: %w", err)
	}
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("store key %s is damaged: it %w; restore it from a backup", path, err)
	}
	return key, nil
}
