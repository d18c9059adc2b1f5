// Package openapi holds requests and their answers against docs/openapi.json, for the
// tests of those who give the answers. Only tests import it.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"airlock/docs"
)

// Document is the description of the HTTP API. It may be used concurrently.
type Document struct {
	doc    *openapi3.T
	router routers.Router
}

// Exchange is a request and the answer that it got, each with the whole of its body.
type Exchange struct {
	Request     *http.Request
	RequestBody []byte
	Status      int
	Header      http.Header
	Body        []byte
}

// Load reads the description and checks it against the rules of OpenAPI 3.1.
func Load() (*Document, error) {
	doc, err := openapi3.NewLoader().LoadFromData(docs.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("read docs/openapi.json: %w", err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("docs/openapi.json: %w", err)
	}
	doc.Servers = nil // tests serve elsewhere
	router, err := legacy.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("docs/openapi.json: %w", err)
	}
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.PlainBodyDecoder)
	return &Document{doc, router}, nil
}

// Operations lists what is described, each as "GET /tasks/{id}", sorted.
func (d *Document) Operations() []string {
	var all []string
	for path, item := range d.doc.Paths.Map() {
		for method := range item.Operations() {
			all = append(all, method+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

// Check reports where an exchange is not as described. A request that is not must
// have been refused; one that no operation is for is not looked at. It returns the
// operation, as Operations lists it.
func (d *Document) Check(x Exchange) (operation string, err error) {
	route, values, err := d.router.FindRoute(x.Request)
	if err != nil {
		return "", nil //nolint:nilerr // not described, and for the server to refuse
	}
	operation = route.Method + " " + route.Path
	r := x.Request.Clone(context.Background())
	r.Body = io.NopCloser(bytes.NewReader(x.RequestBody))
	r.ContentLength = int64(len(x.RequestBody))
	options := &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true}
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: values, Route: route, Options: options}
	if x.Status < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return operation, fmt.Errorf("%s was taken, but its request is not as described: %w", operation, err)
		}
	}
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: x.Status, Header: x.Header, Options: options}
	answer.SetBodyBytes(x.Body)
	if err := openapi3filter.ValidateResponse(context.Background(), answer); err != nil {
		return operation, fmt.Errorf("%s answered %d not as described: %w", operation, x.Status, err)
	}
	if strings.HasPrefix(x.Header.Get("Content-Type"), "text/event-stream") {
		return operation, d.checkStream(operation, x.Body)
	}
	return operation, nil
}

// checkStream looks at each event of a stream.
func (d *Document) checkStream(operation string, stream []byte) error {
	names := []string{"Event"}
	if strings.Contains(operation, "/v1/") {
		names = []string{"ChatCompletion", "ChatError"}
	}
	for line := range strings.SplitSeq(string(stream), "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(data), &value); err != nil {
			return fmt.Errorf("%s sent an event that is no JSON: %w", operation, err)
		}
		if err := d.fitsOne(names, value); err != nil {
			return fmt.Errorf("%s sent an event not as described: %w", operation, err)
		}
	}
	return nil
}

func (d *Document) fitsOne(names []string, value any) error {
	var errs []error
	for _, name := range names {
		err := d.doc.Components.Schemas[name].Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
