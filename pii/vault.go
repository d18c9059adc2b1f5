package pii

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

// Type names a kind of personal data, as it stands in tokens.
type Type = detect.Type

// ErrVaultFull says that a session holds as many values as it may.
var ErrVaultFull = errors.New("the session's vault is full: start a new session, or ask for less data at a time")

// ErrErased says that a session's values were erased.
var ErrErased = errors.New("the session's vault was erased: start a new session")

// Bounds of a vault. A result of 8 MiB, the largest the bridge lets through, may
// hold a quarter of a million values.
const (
	defaultMaxValues = 1 << 19
	maxVaultBytes    = 128 << 20
)

// VaultOptions configure a Vault. Detector is required.
type VaultOptions struct {
	Detector *detect.Detector
	// MaxValues bounds the number of values; 0 takes 524,288. A full vault
	// refuses text with values it does not know yet, by ErrVaultFull.
	MaxValues int
	// Mode says what the sandbox sees; the zero value is Sealed.
	Mode Mode
	// Attributes are what Attr tells; nil takes Brand and Country.
	Attributes []Attribute
	// Rank lets scripts learn the order of values.
	Rank bool
	// Nonce is for tests that need tokens known in advance; empty draws one.
	Nonce string
}

// Mode says what a session's sandbox may see.
type Mode uint8

const (
	// Sealed shows the sandbox tokens only.
	Sealed Mode = iota
	// Open shows the sandbox real values; what it brings out is searched for them.
	Open
)

// finder is what a vault needs of a detector.
type finder interface {
	Find(dst []detect.Span, data []byte) ([]detect.Span, error)
}

// Vault holds the values of one session with their tokens. The same value has
// the same token for as long as the session lives; two values are the same when
// their bytes are.
type Vault struct {
	finder finder
	max    int
	mode   Mode
	nonce  string
	unseen atomic.Bool  // the session holds data that no detector looked at
	heard  []string     // servers that have answered in the session
	used   atomic.Int64 // when it was used last, in nanoseconds since 1970
	rank   bool

	attributes []Attribute

	mu      sync.RWMutex // guards all below and the fields of every entry
	erased  bool
	key     []byte            // seals transcripts
	texts   map[string]*entry // by value
	numbers map[string]*entry // numbers of JSON, by their digits
	spelled map[string]*entry // values with escapes we would not write, by spelledKey
	series  map[Type]*series
	all     []*entry // in the order they came
	bytes   int

	saved    header // as SealChanges sealed it last
	rankings int    // how often Rank answered
	result   uint32 // number of the latest tool result, for Rank

	memory remembered
	known  *known // has a mutex of its own
}

// series holds the entries of one type in the order of their numbers, from 1.
type series struct {
	name    string
	entries []*entry
}

// entry is one value.
type entry struct {
	token string
	typ   Type
	also  []Type // other types it was found as
	// number marks a bare number of JSON.
	number bool
	// forms holds the value in clear and, when it was written with escapes that we
	// would not write ourselves, after it each layer of escapes as it was found.
	forms    []string
	delicate bool // is written differently in text and in JSON
	origins  []Origin
	results  [4]uint32 // the latest tool results that it was in
	changed  bool      // since SealChanges
}

// NewVault makes an empty vault.
func NewVault(o VaultOptions) (*Vault, error) {
	if o.Detector == nil {
		return nil, errors.New("vault without a detector: set VaultOptions.Detector")
	}
	return newVault(o, o.Detector)
}

func newVault(o VaultOptions, f finder) (*Vault, error) {
	if o.MaxValues < 0 {
		return nil, fmt.Errorf("vault for %d values: the bound must be positive", o.MaxValues)
	}
	if o.MaxValues == 0 {
		o.MaxValues = defaultMaxValues
	}
	if o.Nonce == "" {
		o.Nonce = newNonce()
	}
	if err := checkNonce(o.Nonce); err != nil {
		return nil, err
	}
	if o.Attributes == nil {
		o.Attributes = []Attribute{Brand, Country}
	}
	key := make([]byte, keyLen)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the program instead
	v := &Vault{
		finder: f, max: o.MaxValues, mode: o.Mode, nonce: o.Nonce, key: key,
		rank: o.Rank, attributes: slices.Clone(o.Attributes),
		texts: map[string]*entry{}, numbers: map[string]*entry{}, spelled: map[string]*entry{},
		series: map[Type]*series{}, known: newKnown(),
	}
	v.touch()
	return v, nil
}

// FromModel takes in what the model itself wrote: it has seen tokens only.
func (v *Vault) FromModel(s string) Tokenized { return boundary.Seal(s) }

// MarkUnseen notes that the session now holds data that no detector looked at,
// such as a binary upload. From then on a value that only a script brought out
// counts as foreign to every server.
func (v *Vault) MarkUnseen() { v.unseen.Store(true) }

// LastUsed is when the vault last took in or gave out text, for whoever ends
// sessions that nobody uses any more, by Erase.
func (v *Vault) LastUsed() time.Time { return time.Unix(0, v.used.Load()) }

func (v *Vault) touch() { v.used.Store(time.Now().UnixNano()) }

// MarkHeard notes that a server has answered a call of the session. From then on a
// value that only a script brought goes to no other server without its policy
// allowing the type.
func (v *Vault) MarkHeard(server string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.heard, server) {
		v.heard = append(v.heard, server)
	}
}

// Mode says what the session's scripts see.
func (v *Vault) Mode() Mode { return v.mode }

// Erase forgets every value. Whatever is asked of the vault later fails with
// ErrErased.
func (v *Vault) Erase() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erased = true
	clear(v.key)
	v.texts, v.numbers, v.spelled, v.series, v.all = nil, nil, nil, nil, nil
	v.bytes, v.memory = 0, remembered{}
	v.known.mu.Lock()
	defer v.known.mu.Unlock()
	clear(v.known.values)
	clear(v.known.lengths)
	v.known.indexed = 0
}

// Use is one token in a text, with what is known of its value.
type Use struct {
	Token   string
	Type    Type
	Origins []Origin
}

// Uses lists the tokens in t, each once, in the order of their appearance.
func (v *Vault) Uses(t Tokenized) ([]Use, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	entries, err := v.entriesIn(t.String())
	if err != nil {
		return nil, err
	}
	uses := make([]Use, len(entries))
	for i, e := range entries {
		uses[i] = Use{Token: e.token, Type: e.typ, Origins: slices.Clone(e.origins)}
	}
	return uses, nil
}

// Counts tells how many values the vault holds of each type.
func (v *Vault) Counts() map[Type]int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	counts := make(map[Type]int, len(v.series))
	for kind, s := range v.series {
		counts[kind] = len(s.entries)
	}
	return counts
}

// Tokens lists the tokens of one type, the earliest first, up to most of them.
func (v *Vault) Tokens(kind Type, most int) []Tokenized {
	v.mu.RLock()
	defer v.mu.RUnlock()
	s := v.series[kind]
	if s == nil {
		return nil
	}
	tokens := make([]Tokenized, min(most, len(s.entries)))
	for i := range tokens {
		tokens[i] = boundary.Seal(s.entries[i].token)
	}
	return tokens
}

// entriesIn lists the entries of the tokens in text, each once. The caller holds
// v.mu.
func (v *Vault) entriesIn(text string) ([]*entry, error) {
	if v.erased {
		return nil, ErrErased
	}
	var found []*entry
	seen := map[*entry]bool{}
	for at := 0; ; {
		m, ok := v.nextToken(text, at, at)
		if !ok {
			return found, nil
		}
		if m.entry == nil {
			return nil, &UnknownTokenError{Token: m.name}
		}
		if !seen[m.entry] {
			seen[m.entry] = true
			found = append(found, m.entry)
		}
		at = m.end
	}
}

// find returns the entry of a value as it was found, nil when there is none. The
// caller holds v.mu.
func (v *Vault) find(f found) *entry {
	switch {
	case f.number:
		return v.numbers[f.text]
	case f.level == 0:
		return v.texts[f.text]
	}
	return v.spelled[spelledKey(f)]
}

// spelledKey tells spellings of different depth apart.
func spelledKey(f found) string { return string(rune('0'+f.level)) + f.text }

// add makes an entry. The caller holds v.mu for writing and has seen that there
// is none.
func (v *Vault) add(f found) (*entry, error) {
	if v.erased {
		return nil, ErrErased
	}
	if len(v.all) >= v.max || v.bytes+len(f.text) > maxVaultBytes {
		return nil, ErrVaultFull
	}
	s := v.series[f.typ]
	if s == nil {
		s = &series{name: string(f.typ)}
		v.series[f.typ] = s
	}
	e := newEntry(f)
	e.token = "[" + s.name + "_" + strconv.Itoa(len(s.entries)+1) + "_" + v.nonce + "]"
	v.insert(s, e, f)
	return e, nil
}

// insert puts e into every index.
func (v *Vault) insert(s *series, e *entry, f found) {
	s.entries = append(s.entries, e)
	v.all = append(v.all, e)
	v.bytes += len(f.text)
	text := e.forms[len(e.forms)-1]
	switch {
	case e.number:
		v.numbers[text] = e
	case f.level == 0:
		v.texts[text] = e
		if isMemorable(e.typ, text) {
			v.memory.add(text)
		}
	default:
		v.spelled[spelledKey(f)] = e
	}
}

// newEntry copies the value out of the text it was found in, so that a large
// text is not kept alive by a small value.
func newEntry(f found) *entry {
	forms := make([]string, f.level+1)
	text := string([]byte(f.text))
	for i := f.level; i >= 0; i-- {
		forms[i] = text
		if plain, ok := unescape(text); i > 0 && ok {
			text = plain
		}
	}
	return &entry{typ: f.typ, number: f.number, forms: forms, delicate: f.number || f.level > 0 || isDelicate(text), changed: true}
}

// sight notes that a value was seen from an origin, as a type. The caller holds
// v.mu for writing.
func (e *entry) sight(f found, from Origin) {
	if !slices.Contains(e.origins, from) {
		e.origins, e.changed = append(e.origins, from), true
	}
	if e.typ != f.typ && !slices.Contains(e.also, f.typ) {
		e.also, e.changed = append(e.also, f.typ), true
	}
}

// inResult notes that the value was in a tool result. The caller holds v.mu for
// writing.
func (e *entry) inResult(number uint32) {
	if number != 0 && e.results[0] != number {
		copy(e.results[1:], e.results[:])
		e.results[0] = number
	}
}

// inherit gives e the origins of the values that it is a disguise of.
func (e *entry) inherit(bases []*entry) {
	for _, b := range bases {
		for _, o := range b.origins {
			if !slices.Contains(e.origins, o) {
				e.origins, e.changed = append(e.origins, o), true
			}
		}
	}
}

// knows reports whether sight would change nothing.
func (e *entry) knows(f found, from Origin) bool {
	return slices.Contains(e.origins, from) && (e.typ == f.typ || slices.Contains(e.also, f.typ))
}
