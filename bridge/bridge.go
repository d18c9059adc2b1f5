// Package bridge is the one way out of a sandbox: the API by which a script
// discovers and calls the tools of upstream servers.
//
// Grant gives one execution access and a session token; Handler answers the
// requests that carry it, over a unix socket or in process; Access.Revoke ends
// it with the execution. Search and Describe answer the same questions for those
// who ask without a script.
//
// A call goes through token, scope, limits, tokenizing of the arguments, release
// policy, approval, detokenizing, validation, the tool itself, tokenizing of its
// result, and audit, in this order; file call.go reads the same way. Everything
// fails closed: what cannot be checked, tokenized or written to the audit log is
// refused, and the script never gets a text that did not pass its session's
// vault. Real values exist here only between detokenizing and the tool, and
// between the tool and tokenizing; file clear.go is the only one that opens them.
//
// What the bridge does not do is to trust a script's own claims, or to make a
// hostile tool honest: a tool that is given a value has it.
//
// A Bridge may be used by any number of goroutines and has none of its own.
package bridge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
)

// Options are what a Bridge is made of. All but Approver and Log are required.
type Options struct {
	// Secret signs session tokens: at least 32 random bytes.
	Secret []byte
	// TokenTTL bounds the life of a session token whatever its execution's deadline.
	TokenTTL  time.Duration
	Limits    Limits
	Upstreams Upstreams
	// Approver asks the user before calls that need consent. Without one they are
	// refused.
	Approver Approver
	// Audit receives one line of JSON in one Write for each call, each release and
	// each refused token. When it fails, so does what it was to record.
	Audit     io.Writer
	Pseudonym ident.Pseudonym
	Log       *zap.Logger
}

// Bridge is the gate between scripts and tools.
type Bridge struct {
	options Options
	log     *zap.Logger
	tokens  tokenAuthority
	audit   auditLog
	schemas schemaCache
	views   viewCache
	shapes  observedShapes

	mu       sync.Mutex                    // guards what follows
	accesses map[string]*Access            // by token id
	byToken  map[[sha256.Size]byte]*Access // by digest of the token
}

// New checks the options and makes a Bridge.
func New(o Options) (*Bridge, error) {
	switch {
	case len(o.Secret) < minSecret:
		return nil, fmt.Errorf("bridge: Secret has %d bytes; give it at least %d random ones", len(o.Secret), minSecret)
	case o.TokenTTL <= 0:
		return nil, fmt.Errorf("bridge: TokenTTL is %v; it must be positive", o.TokenTTL)
	case o.Upstreams == nil:
		return nil, errors.New("bridge: Upstreams is missing")
	case o.Audit == nil:
		return nil, errors.New("bridge: Audit is missing; calls cannot be made without a record")
	}
	if err := o.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return &Bridge{
		options: o, log: o.Log, accesses: map[string]*Access{}, byToken: map[[sha256.Size]byte]*Access{},
		tokens: newTokenAuthority(o.Secret, o.TokenTTL),
		audit:  auditLog{to: o.Audit},
	}, nil
}
