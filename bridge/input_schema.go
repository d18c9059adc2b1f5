package bridge

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// inputSchema is the compiled input schema of a tool.
type inputSchema struct {
	root *jsonschema.Schema
	cost costs
}

const (
	// maxSchema bounds the JSON of one input schema; the largest real one we know
	// of has 44 KB.
	maxSchema = 512 << 10
	// maxSchemas bounds how many compiled schemas are kept.
	maxSchemas = 2048
	// schemaAddress is what relative references are relative to. Nothing is ever
	// loaded from anywhere.
	schemaAddress = "https://tool.invalid/input.json"
)

var (
	errSchemaSize  = fmt.Errorf("it is larger than %d bytes", maxSchema)
	errSchemaJSON  = errors.New("it is not JSON")
	errRemote      = errors.New("references to other documents are not followed")
	errDynamic     = errors.New("dynamic references are not supported")
	errTooCostly   = errors.New("checking them against this schema would take too long")
	errUncheckable = errors.New("the schema cannot be applied to them")
)

// schemaCache keeps compiled schemas by their text. One that does not compile is
// kept as its error: a tool whose arguments cannot be checked is not called. The
// zero value is ready.
type schemaCache struct {
	mu   sync.Mutex // guards the rest
	kept map[string]compiled
}

type compiled struct {
	schema *inputSchema
	err    error
}

func (c *schemaCache) get(text string) (*inputSchema, error) {
	c.mu.Lock()
	known, ok := c.kept[text]
	c.mu.Unlock()
	if ok {
		return known.schema, known.err
	}
	var made compiled
	made.schema, made.err = compileSchema(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= maxSchemas { // starting over costs less than keeping account
		c.kept = map[string]compiled{}
	}
	c.kept[text] = made
	return made.schema, made.err
}

// noLoader refuses every reference that leads out of the schema.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemote }

// compileSchema compiles the schema as the server sent it. A tool without one
// takes any object.
func compileSchema(text string) (made *inputSchema, err error) {
	defer func() { // the library panics on some schemas that make no sense
		if recover() != nil {
			made, err = nil, errUncheckable
		}
	}()
	if strings.TrimSpace(text) == "" {
		text = `{"type":"object"}`
	}
	if len(text) > maxSchema {
		return nil, errSchemaSize
	}
	if checkJSON([]byte(text)) != nil {
		return nil, errSchemaJSON
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, errSchemaJSON
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(schemaAddress, doc); err != nil {
		return nil, schemaError(err)
	}
	root, err := c.Compile(schemaAddress)
	if err != nil {
		return nil, schemaError(err)
	}
	cost, err := costsOf(root)
	if err != nil {
		return nil, err
	}
	return &inputSchema{root, cost}, nil
}

// schemaError says in one line why a schema does not compile.
func schemaError(err error) error {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return errRemote
	}
	var invalid *jsonschema.SchemaValidationError
	var broken *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &broken) {
		return errors.New("it is not a valid JSON Schema: " + describeViolations(violations(broken), func(string) bool { return true }))
	}
	return errors.New(short(strings.ReplaceAll(err.Error(), schemaAddress, ""), 200))
}

// pattern is a regular expression that Go's own engine cannot read, such as one
// with look-around.
type pattern struct {
	re    *regexp2.Regexp
	fails atomic.Int32 // times that it took too long
}

const (
	patternTime = 20 * time.Millisecond
	// maxPatternFails is when a pattern is given up: from then on it matches nothing.
	maxPatternFails = 25
)

// compilePattern takes Go's engine, which is linear, where it can.
func compilePattern(text string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(text); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(text, regexp2.ECMAScript)
	if err != nil {
		return nil, errors.New("a pattern in it cannot be read")
	}
	re.MatchTimeout = patternTime
	return &pattern{re: re}, nil
}

func (p *pattern) String() string { return p.re.String() }

// MatchString fails closed: what cannot be decided in time does not match.
func (p *pattern) MatchString(s string) bool {
	if p.fails.Load() >= maxPatternFails {
		return false
	}
	ok, err := p.re.MatchString(s)
	if err != nil {
		p.fails.Add(1)
		return false
	}
	return ok
}

// violation is one way in which arguments do not fit: where, which keyword, and
// what the schema wants there. It never holds the value.
type violation struct {
	path    []string
	keyword string
	want    string
}

// check validates arguments. An error means that they could not be checked.
func (s *inputSchema) check(arguments string) (broken []violation, err error) {
	defer func() {
		if recover() != nil {
			broken, err = nil, errUncheckable
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return nil, errUncheckable
	}
	if !s.cost.affordable(doc, len(arguments)) {
		return nil, errTooCostly
	}
	err = s.root.Validate(doc)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &invalid):
		return violations(invalid), nil
	}
	return nil, errUncheckable
}

// maxViolations bounds how many are told.
const maxViolations = 5

// describeViolations writes "/limit: type (want integer); /: required (missing "query")".
// A segment of a path is told only if mayTell allows it, since keys of the
// arguments may be values too.
func describeViolations(broken []violation, mayTell func(string) bool) string {
	var all []string
	for i, v := range broken {
		if i == maxViolations {
			all = append(all, "and "+strconv.Itoa(len(broken)-i)+" more")
			break
		}
		var path strings.Builder
		for _, segment := range v.path {
			if !mayTell(segment) {
				segment = "*"
			}
			path.WriteString("/" + short(segment, 64))
		}
		text := path.String()
		if text == "" {
			text = "/"
		}
		text += ": " + v.keyword
		if v.want != "" {
			text += " (" + v.want + ")"
		}
		all = append(all, text)
	}
	return strings.Join(slices.Compact(all), "; ")
}
