package wire

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator/llm"
)

func TestArgumentsAreAnObjectOrAnError(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "{}", " \n": "{}", "null": "{}", `""`: "{}", `"null"`: "{}",
		`{"a":1}`: `{"a":1}`, " {} ": "{}", `"{\"a\":\"\\u00fc\"}"`: `{"a":"\u00fc"}`,
		`{"big":12345678901234567890}`: `{"big":12345678901234567890}`,
	} {
		if got, err := Arguments(raw); err != nil || got != want {
			t.Errorf("Arguments(%q) = %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"{", `{"a":`, "[]", "1", "true", `"text"`, `"[1]"`, "{}{}", `{"a":1}x`, `"\"{}\""`} {
		if got, err := Arguments(raw); err == nil {
			t.Errorf("Arguments(%q) = %q, want an error", raw, got)
		} else if strings.Contains(err.Error(), raw) {
			t.Errorf("the error tells the arguments: %v", err)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `"{\"a\":1}"`, "null", "{", `"\ud800"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := Arguments(raw)
		if err != nil {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(got), &object) != nil || object == nil {
			t.Errorf("Arguments(%q) = %q, which is no object", raw, got)
		}
		if again, err := Arguments(got); err != nil || again != got {
			t.Errorf("Arguments(%q) = %q, %v: it does not keep what it made", got, again, err)
		}
	})
}

func TestPiecesOfArguments(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "", "null": "", `""`: "", `"{\"a\""`: `{"a"`, `{"a": 1}`: `{"a": 1}`, "[1]": "[1]", "7": "7",
	} {
		if got := Piece(json.RawMessage(raw)); got != want {
			t.Errorf("Piece(%s) = %q, want %q", raw, got, want)
		}
	}
}

func TestRetryAfterIsReadInAllItsForms(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 5, 16, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"missing":               {nil, 0},
		"seconds":               {map[string]string{"Retry-After": "30"}, 30 * time.Second},
		"parts of seconds":      {map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		"milliseconds go first": {map[string]string{"Retry-After": "30", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		"a date":                {map[string]string{"Retry-After": "Thu, 16 May 2024 12:01:00 GMT"}, time.Minute},
		"a date that passed":    {map[string]string{"Retry-After": "Thu, 16 May 2024 11:00:00 GMT"}, 0},
		"negative":              {map[string]string{"Retry-After": "-5"}, 0},
		"not a number":          {map[string]string{"Retry-After": "NaN"}, 0},
		"endless":               {map[string]string{"Retry-After": "Inf"}, maxAfter},
		"years":                 {map[string]string{"Retry-After": "1e300"}, maxAfter},
		"words":                 {map[string]string{"Retry-After": "soon"}, 0},
	} {
		h := http.Header{}
		for k, v := range tt.header {
			h.Set(k, v)
		}
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestErrorBodiesOfManyServers(t *testing.T) {
	t.Parallel()
	e := Endpoint{Provider: "p", KeyName: "THE_KEY", ModelName: "THE_MODEL", URLName: "THE_URL"}
	for name, tt := range map[string]struct {
		body, code, hint string
		retry            bool
	}{
		"Anthropic":                  {`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, "overloaded_error", "overloaded", true},
		"Anthropic with details":     {`{"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}}`, "enforced_spend_limit_reached", "quota", false},
		"OpenAI":                     {`{"error":{"message":"m","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, "rate_limit_exceeded", "too many", true},
		"Gemini":                     {`[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]`, "UNAVAILABLE", "try again", true},
		"Gemini's bad key":           {`[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`, "INVALID_ARGUMENT", "", false},
		"vLLM":                       {`{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`, ContextLength, "longer than", false},
		"vLLM within a stream":       {`{"error":{"message":"m","type":"InternalServerError","param":null,"code":500}}`, "InternalServerError", "try again", true},
		"LiteLLM, nothing by Python": {`{"error":{"message":"m","type":"None","param":"None","code":"429"}}`, "", "too many", true},
		"LiteLLM, a lasting error":   {`{"error":{"message":"m","type":"invalid_request_error","param":null,"code":"400"}}`, "invalid_request_error", "refused", false},
		"llama.cpp":                  {`{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, ContextLength, "longer than", false},
		"Ollama":                     {`{"error":"model failed to load"}`, "", "try again", true},
		"prose in place of a code":   {`{"error":{"code":"your text was: secret","type":"a b"}}`, "", "try again", true},
		"not JSON":                   {`<html>`, "", "try again", true},
		"empty":                      {``, "", "try again", true},
		"lasting":                    {`{"error":{"type":"authentication_error"}}`, "authentication_error", "THE_KEY", false},
		"fields of unexpected types": {`{"error":{"type":"api_error","message":["m"],"details":7}}`, "api_error", "try again", true},
	} {
		fault := e.EventFault([]byte(tt.body))
		if fault.Code != tt.code || fault.Retry != tt.retry || !strings.Contains(fault.Hint, tt.hint) {
			t.Errorf("%s: %+v", name, fault)
		}
	}
}

// TestTooLongConversationsAreToldApart has the words in which servers refuse them, and
// refusals that sound alike. The words were reported in the servers' public issues.
func TestTooLongConversationsAreToldApart(t *testing.T) {
	t.Parallel()
	for body, tt := range map[string]struct {
		status int
		long   bool
	}{
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209303 tokens > 200000 maximum"}}`:                                                           {400, true},
		`{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 178959 + 64000 > 200000, decrease input length"}}`: {400, true},
		`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`:                                                                                 {413, true},
		`<html>413 Request Entity Too Large</html>`: {413, true},
		`{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.","code":"context_length_exceeded"}}`:                                                                      {400, true},
		`{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":null}}`:                                                                                                           {400, true},
		`{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens."}}`:                                                                                                       {400, true},
		`{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 36278. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`: {429, true},
		`{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.","type":"tokens","code":"rate_limit_exceeded"}}`:                                                              {429, false},
		`[{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`:                                                                          {400, true},
		`{"message":"The decoder prompt (length 21535) is longer than the maximum model length of 16384."}`:                                                                                                                                 {500, true},
		`{"error":{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens)."}}`:                                                                                                                          {400, true},
		`{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: it does not fit","type":null,"param":null,"code":"400"}}`:                                                                                        {400, true},
		`{"error":{"code":400,"message":"request (4476 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}`:                                                                                      {400, true},
		`{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`:                                                                                                                                  {400, true},
		`{"error":{"message":"max_tokens is too large: 8192. This model supports at most 4096 completion tokens","type":"invalid_request_error"}}`:                                                                                          {400, false},
		`{"error":{"message":"no such context window"}}`: {404, false},
	} {
		fault := Endpoint{Provider: "p"}.statusFault(&http.Response{StatusCode: tt.status, Body: io.NopCloser(strings.NewReader(body))})
		if errors.Is(fault, llm.ErrTooLong) != tt.long || tt.long && (fault.Code != ContextLength || fault.Retry) {
			t.Errorf("%d %s: %+v", tt.status, body, fault)
		}
	}
}

func TestCheckURLTakesAddressesOnlyAndKeepsThemToItself(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"http://127.0.0.1:11434/v1", "https://api.example.com", "https://[::1]:8000/"} {
		if err := CheckURL(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "localhost:8000", "/v1", "ftp://secret.example.com", "http://", "https://user:secret@example.com", "https://example.com/?key=secret", "https://example.com/#secret", "http://exa mple/secret", "https://secret\x00"} {
		if err := CheckURL(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q is told by %v", bad, err)
		}
	}
}

func TestStopFollowsTheCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reported llm.StopReason
		calls    int
		spoke    bool
		want     llm.StopReason
	}{
		{llm.StopEnd, 1, true, llm.StopTools},
		{llm.StopOther, 1, false, llm.StopTools},
		{llm.StopTools, 1, true, llm.StopTools},
		{llm.StopTools, 0, true, llm.StopEnd},
		{llm.StopTools, 0, false, llm.StopOther},
		{llm.StopLength, 1, true, llm.StopLength},
		{llm.StopRefusal, 1, true, llm.StopRefusal},
	} {
		if got := Stop(tt.reported, tt.calls, tt.spoke); got != tt.want {
			t.Errorf("Stop(%s, %d, %v) = %s, want %s", tt.reported, tt.calls, tt.spoke, got, tt.want)
		}
	}
}

func TestIDsDiffer(t *testing.T) {
	t.Parallel()
	ids := NewIDs(4)
	given := []string{ids.Of(""), ids.Of("a"), ids.Of("a"), ids.Of(""), ids.Of("airlock_4_9")}
	seen := map[string]bool{}
	for _, id := range given {
		if id == "" || seen[id] {
			t.Errorf("ids %q", given)
		}
		seen[id] = true
	}
	if given[1] != "a" || given[4] != "airlock_4_9" {
		t.Errorf("ids that came were changed: %q", given)
	}
}

func TestErrorsOfDecodingAreReplaced(t *testing.T) {
	t.Parallel()
	err := Endpoint{Provider: "p"}.StreamError(t.Context(), errors.New("invalid character 's' in secret"))
	if fault := (*llm.Error)(nil); !errors.As(err, &fault) || strings.Contains(err.Error(), "secret") || !fault.Retry {
		t.Errorf("got %v", err)
	}
}

// Google's errors carry the wait in the body: https://cloud.google.com/apis/design/errors.
func TestGooglesRetryInfoIsRead(t *testing.T) {
	t.Parallel()
	body := `[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]`
	fault := Endpoint{Provider: "p"}.EventFault([]byte(body))
	if fault.After != 34500*time.Millisecond || fault.Status != http.StatusTooManyRequests || !fault.Retry {
		t.Errorf("%+v", fault)
	}
}
