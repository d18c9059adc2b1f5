package wire

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"airlock/orchestrator/llm"
)

const (
	// maxErrorBody is enough for the JSON of an error.
	maxErrorBody = 64 << 10
	// statusOverloaded is not registered; Anthropic answers it when overloaded.
	statusOverloaded = 529
	statusLast       = 599
)

// ContextLength is the code of every provider's "the conversation is too long", which
// is llm.ErrTooLong too.
const ContextLength = "context_length_exceeded"

// statusFault reads the error that r tells.
func (e Endpoint) statusFault(r *http.Response) *llm.Error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // an unreadable body is told by the status alone
	told := readTold(body)
	fault := &llm.Error{
		Provider: e.Provider,
		Status:   r.StatusCode,
		Code:     told.code(),
		Retry:    retryStatus(r.StatusCode),
		After:    cmp.Or(retryAfter(r.Header, time.Now()), told.retryDelay()),
	}
	if wish, err := strconv.ParseBool(r.Header.Get("X-Should-Retry")); err == nil {
		fault.Retry = wish
	}
	e.explain(fault, told)
	return fault
}

// EventFault reads the error that a provider sent in place of an event. Gateways and
// local servers name the status that it would have had.
func (e Endpoint) EventFault(event []byte) *llm.Error {
	told := readTold(event)
	fault := &llm.Error{Provider: e.Provider, Status: http.StatusOK, Code: told.code(), After: told.retryDelay()}
	fault.Retry = !slices.Contains(permanentCodes, fault.Code)
	if status := told.statusCode(); status != 0 {
		fault.Status, fault.Retry = status, retryStatus(status)
	}
	e.explain(fault, told)
	return fault
}

// permanentCodes are those that the same request gets again.
var permanentCodes = []string{"invalid_request_error", "authentication_error", "permission_error", "not_found_error", "request_too_large", "billing_error"}

func retryStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
	}
}

// explain adds the hint and corrects what the status alone gets wrong.
func (e Endpoint) explain(fault *llm.Error, told told) {
	switch {
	case told.contextLength(fault.Status):
		e.tooLong(fault)
	case slices.Contains(quotaCodes, fault.Code) || fault.Status == http.StatusPaymentRequired:
		fault.Retry = false
		fault.Hint = "the account has no quota left; check its billing and limits"
	case fault.Status == http.StatusUnauthorized || fault.Code == "authentication_error" || told.badKey(fault.Status):
		fault.Hint = "the API key was refused; check " + e.KeyName
	case fault.Status == http.StatusForbidden || fault.Code == "permission_error":
		fault.Hint = "the API key may not use this model; check " + e.KeyName + " and " + e.ModelName
	case fault.Status == http.StatusNotFound || fault.Code == "not_found_error" || fault.Code == "model_not_found":
		fault.Hint = "there is no such model or address; check " + e.ModelName + " and " + e.URLName
	case fault.Status == http.StatusTooManyRequests || fault.Code == "rate_limit_error" || fault.Code == "rate_limit_exceeded":
		fault.Hint = "too many requests or tokens; wait, or raise the account's limits"
	case fault.Status == statusOverloaded || fault.Code == "overloaded_error":
		fault.Hint = "the provider is overloaded; try again later"
	case fault.Retry:
		fault.Hint = "the provider failed; try again later"
	default:
		fault.Hint = "the provider refused the request; check " + e.ModelName + " and that the model takes tools"
	}
}

// TooLong is the error of an answer that ended because the model's context was full.
func (e Endpoint) TooLong() *llm.Error {
	fault := &llm.Error{Provider: e.Provider, Status: http.StatusOK}
	e.tooLong(fault)
	return fault
}

func (e Endpoint) tooLong(fault *llm.Error) {
	fault.Code, fault.Retry, fault.Cause = ContextLength, false, llm.ErrTooLong
	fault.Hint = "the conversation is longer than the model can take; start a new session or return less from scripts"
}

// quotaCodes mean that waiting does not help.
var quotaCodes = []string{"insufficient_quota", "billing_error", "billing_hard_limit_reached", "contract_spend_limit_reached", "enforced_spend_limit_reached", "linked_organization_spend_limit_reached"}

// told is what an error's body tells. Its texts may repeat the request, so only
// codes leave this file.
type told struct {
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  string          `json:"status"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details"`
}

// errorCode is Anthropic's, more telling than the type.
func (t told) errorCode() string {
	var details struct {
		ErrorCode string `json:"error_code"`
	}
	_ = json.Unmarshal(t.Details, &details) // others put lists there
	return details.ErrorCode
}

// retryDelay is how long Google asks to wait: in the body, by a google.rpc.RetryInfo.
func (t told) retryDelay() time.Duration {
	var details []struct {
		RetryDelay string `json:"retryDelay"`
	}
	_ = json.Unmarshal(t.Details, &details) // others put objects there
	for _, d := range details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			return bounded(delay.Seconds())
		}
	}
	return 0
}

// statusCode is the HTTP status that a code stands for, 0 if it is none: vLLM sends
// it as a number, LiteLLM as a string.
func (t told) statusCode() int {
	status, err := strconv.Atoi(strings.Trim(string(t.Code), `"`))
	if err != nil || status < http.StatusBadRequest || status > statusLast {
		return 0
	}
	return status
}

// readTold understands {"error":{…}}, the same in an array, as Gemini sends it,
// and a bare {…}, as vLLM sends it.
func readTold(body []byte) told {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	var t told
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 && string(outer.Error) != "null" {
		body = outer.Error
	}
	if json.Unmarshal(body, &t) != nil { // a field of another type leaves the others read
		_ = json.Unmarshal(body, &t.Message)
	}
	return t
}

// codeShape keeps prose, and thereby content, out of codes.
var codeShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// code is the most telling of the short codes, "" if there is none.
func (t told) code() string {
	var code string
	_ = json.Unmarshal(t.Code, &code) // numbers repeat the status
	for _, c := range []string{t.errorCode(), code, t.Type, t.Status} {
		if codeShape.MatchString(c) && c != "None" { // as Python writes nothing
			return c
		}
	}
	return ""
}

// contextCodes are the codes for it: OpenAI's, which others took over, Anthropic's for
// a body over its limit, llama.cpp's and GitHub's.
var contextCodes = []string{ContextLength, "request_too_large", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"}

// contextPhrases are how providers and local servers tell it, in lower case.
var contextPhrases = []string{
	"prompt is too long",                   // Anthropic
	"exceed context limit",                 // Anthropic, of input and max_tokens together
	"input is too long",                    // Bedrock
	"context length",                       // OpenAI, vLLM, SGLang, Ollama, OpenRouter, Mistral
	"context window",                       // OpenAI, MiniMax
	"input tokens exceed",                  // OpenAI and Azure, of models with a bound of its own
	"tokens must be reduced",               // OpenAI, of one request over the limit of a minute
	"contextwindowexceeded",                // LiteLLM
	"context size",                         // llama.cpp
	"maximum model length",                 // vLLM's engine
	"exceeds the maximum number of tokens", // Gemini
	"maximum number of tokens allowed",
	"maximum prompt length", // xAI
	"model token limit",     // Moonshot
}

func (t told) contextLength(status int) bool {
	switch {
	case slices.Contains(contextCodes, t.code()) || status == http.StatusRequestEntityTooLarge:
		return true
	case slices.Contains(lengthStatuses, status):
		message := strings.ToLower(t.Message)
		return slices.ContainsFunc(contextPhrases, func(p string) bool { return strings.Contains(message, p) })
	default:
		return false
	}
}

// lengthStatuses are those that such messages come with: errors within a stream have
// 200, LiteLLM and vLLM's engine answer 500.
var lengthStatuses = []int{
	http.StatusOK, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError,
}

// badKey recognises Gemini, which refuses keys with status 400.
func (t told) badKey(status int) bool {
	return status == http.StatusBadRequest && strings.Contains(strings.ToLower(t.Message), "api key")
}

// maxAfter bounds what a header can make us wait or overflow.
const maxAfter = 24 * time.Hour

// retryAfter reads Retry-After-Ms and Retry-After, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		return bounded(at.Sub(now).Seconds())
	}
	return 0
}

func bounded(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN too
		return 0
	}
	return time.Duration(min(seconds, maxAfter.Seconds()) * float64(time.Second))
}
