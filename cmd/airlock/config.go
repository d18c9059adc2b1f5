package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"airlock/orchestrator"
	"airlock/runtime/sandbox"
)

// Config is what flags, environment and .env set. Every command takes it.
type Config struct {
	Host    string `default:"127.0.0.1" env:"HOST" help:"Address to listen on."`
	Port    int    `default:"3000" env:"PORT" help:"Port of the HTTP API; 0 picks a free one."`
	MCPPort int    `name:"mcp-port" default:"3001" env:"MCP_PORT" help:"Port of the MCP server; 0 picks a free one."`
	DataDir string `default:"./data" env:"DATA_DIR" type:"path" help:"Workspaces, artifacts, skills, keys."`
	Catalog string `default:"./catalog.json" env:"CATALOG" type:"path" help:"The upstream servers."`

	AllowedHosts   []string `env:"ALLOWED_HOSTS" help:"Further values of the Host header that mean this server, with their ports."`
	PublicURL      string   `name:"public-url" env:"PUBLIC_URL" help:"How people reach this server, such as https://airlock.example.com behind a proxy."`
	AllowedOrigins []string `env:"ALLOWED_ORIGINS" help:"Origins whose pages may call this server."`
	TrustedProxies []string `env:"TRUSTED_PROXIES" help:"Addresses of proxies, such as 10.0.0.0/8, that may say by x-user-id whom an MCP host calls for."`
	Auth           string   `default:"none" env:"AUTH" enum:"none,keys,jwt" help:"Who may call: none is for loopback only, keys takes API keys, jwt tokens of a provider."`
	AuthJWKSURL    string   `name:"auth-jwks-url" env:"AUTH_JWKS_URL" help:"Where the provider of tokens publishes its keys."`
	AuthAudience   string   `env:"AUTH_AUDIENCE" help:"Audience that tokens must be for."`
	AuthIssuer     string   `env:"AUTH_ISSUER" help:"Issuer that tokens must be of, if set."`

	RateLimitMax      int `default:"100" env:"RATE_LIMIT_MAX" help:"Tasks, scripts and chats that a user may begin in each window; 0 is no limit."`
	RateLimitWindowMs int `default:"900000" env:"RATE_LIMIT_WINDOW_MS" help:"The window, in milliseconds."`

	SandboxBackend   string `default:"auto" env:"SANDBOX_BACKEND" enum:"auto,wasm,docker" help:"What scripts run in: wasm is embedded, docker needs an engine and the image, auto takes docker where it is ready."`
	SandboxImage     string `default:"airlock-sandbox:latest" env:"SANDBOX_IMAGE" help:"Image of the docker sandbox; make sandbox-image builds it."`
	SandboxRuntime   string `env:"SANDBOX_RUNTIME" help:"The Docker engine's runtime, such as runsc; its default if empty."`
	SandboxTimeoutMs int    `default:"30000" env:"SANDBOX_TIMEOUT_MS" help:"Time of one script, in milliseconds."`
	SandboxMemoryMB  int    `default:"256" env:"SANDBOX_MEMORY_MB" help:"Memory of one script, in MB."`
	SandboxCPUQuota  int    `default:"100000" env:"SANDBOX_CPU_QUOTA" help:"Microseconds of one core that a script may use in 100 ms."`

	LLMProvider string `env:"LLM_PROVIDER" enum:",anthropic,openai,google,skillmatch" default:"" help:"Model provider; by default the one whose key is set, else skillmatch, which needs none."`
	LLMModel    string `env:"LLM_MODEL" help:"Model name."`
	LLMAPIKey   string `name:"llm-api-key" env:"LLM_API_KEY" help:"Key of the provider (better in the environment than as a flag)."`
	LLMBaseURL  string `env:"LLM_BASE_URL" help:"Base URL of an OpenAI-compatible server."`

	Models        []string `env:"MODELS" help:"Further models that tasks may name, each as provider/model; providers take their own key and URL."`
	FallbackModel string   `env:"FALLBACK_MODEL" help:"provider/model that goes on with a task when its own model is not to be had."`
	ModelPrices   string   `env:"MODEL_PRICES" help:"JSON object of provider/model to prices in US dollars per million tokens, or @file."`

	SkillsFirst bool `env:"SKILLS_FIRST" help:"Answer a task by a skill where one surely fits, and ask the model about the others only."`

	ModelContextTokens int `default:"120000" env:"MODEL_CONTEXT_TOKENS" help:"About how much of a conversation the model is told; a longer one is shortened from its beginning."`

	AnthropicAPIKey  string `env:"ANTHROPIC_API_KEY" help:"Key for Anthropic."`
	AnthropicBaseURL string `env:"ANTHROPIC_BASE_URL" help:"Base URL for Anthropic."`
	AnthropicModel   string `env:"ANTHROPIC_MODEL" help:"Model for Anthropic."`
	OpenAIAPIKey     string `name:"openai-api-key" env:"OPENAI_API_KEY" help:"Key for OpenAI."`
	OpenAIBaseURL    string `name:"openai-base-url" env:"OPENAI_BASE_URL" help:"Base URL for OpenAI."`
	OpenAIModel      string `name:"openai-model" env:"OPENAI_MODEL" help:"Model for OpenAI."`
	GoogleAPIKey     string `env:"GOOGLE_API_KEY" help:"Key for Google's OpenAI-compatible endpoint."`
	DefaultModel     string `env:"DEFAULT_MODEL" help:"provider/model, in place of LLM_PROVIDER and LLM_MODEL."`

	TaskMaxTurns     int     `default:"30" env:"TASK_MAX_TURNS" help:"How often a task may ask its model."`
	TaskTimeoutMs    int     `default:"600000" env:"TASK_TIMEOUT_MS" help:"Time of one task, in milliseconds."`
	TaskMaxTokens    int     `default:"4000000" env:"TASK_MAX_TOKENS" help:"Tokens that a task's model may read and write."`
	TaskMaxToolCalls int     `default:"5000" env:"TASK_MAX_TOOL_CALLS" help:"Calls of tools that a task's scripts may make."`
	TaskMaxCostUSD   float64 `name:"task-max-cost-usd" default:"0" env:"TASK_MAX_COST_USD" help:"What a task's model may cost in US dollars, by MODEL_PRICES; 0 is no limit."`

	PIIMode           string   `name:"pii-mode" default:"sealed" env:"PII_MODE" enum:"sealed,open" help:"Whether scripts see tokens (sealed) or real values (open)."`
	PIICustomPatterns string   `name:"pii-custom-patterns" env:"PII_CUSTOM_PATTERNS" help:"JSON object of name to regular expression, or @file."`
	PIIPacks          []string `name:"pii-packs" env:"PII_PACKS" help:"Further countries to detect identifiers of."`

	ApprovalTimeoutMs int `default:"300000" env:"APPROVAL_TIMEOUT_MS" help:"How long a call that needs the user's approval waits for it, in milliseconds."`

	ArtifactRetentionDays int `default:"0" env:"ARTIFACT_RETENTION_DAYS" help:"Days after its last change at which an artifact is deleted; 0 keeps them until their users delete them."`

	StoreKey string `env:"STORE_KEY" help:"Key that encrypts what is kept, 64 hexadecimal digits; made once in DATA_DIR by default."`
	NATSURL  string `name:"nats-url" env:"NATS_URL" help:"NATS server or cluster to keep things in, in place of one inside this program."`

	PeerURL string `name:"peer-url" env:"PEER_URL" help:"Where other airlock processes at one NATS_URL reach this one's API, such as http://10.0.0.5:3000; the port 0 is that of PORT."`

	SessionSecret   string `env:"SESSION_SECRET" help:"Key that signs session tokens; random at each start by default."`
	TokenExpiration int    `default:"3600" env:"TOKEN_EXPIRATION" help:"Longest life of a session token, in seconds."`

	OTLPEndpoint string `name:"otlp-endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" help:"Base URL of a collector that takes traces by OTLP over HTTP; none by default."`

	// serving says that this process goes on with what an earlier one left.
	serving bool
	// only names the servers to work with, in place of those that are enabled.
	only []string

	LogLevel  string `default:"info" env:"LOG_LEVEL" enum:"debug,info,warn,error" help:"Least severe line to log."`
	LogFormat string `default:"auto" env:"LOG_FORMAT" enum:"auto,pretty,json" help:"Form of the log: pretty on a terminal by default, else json."`
}

// Validate is called by the parser; its errors name the setting and what it takes.
func (c *Config) Validate() error {
	for _, n := range []struct {
		name             string
		value, low, high int
	}{
		{"PORT", c.Port, 0, 65535},
		{"MCP_PORT", c.MCPPort, 0, 65535},
		{"SANDBOX_TIMEOUT_MS", c.SandboxTimeoutMs, 1, 3_600_000},
		{"SANDBOX_MEMORY_MB", c.SandboxMemoryMB, 8, 65_536},
		{"SANDBOX_CPU_QUOTA", c.SandboxCPUQuota, 1000, 6_400_000},
		{"RATE_LIMIT_MAX", c.RateLimitMax, 0, 1_000_000},
		{"RATE_LIMIT_WINDOW_MS", c.RateLimitWindowMs, 1000, 86_400_000},
		{"MODEL_CONTEXT_TOKENS", c.ModelContextTokens, 8000, 10_000_000},
		{"TASK_MAX_TURNS", c.TaskMaxTurns, 1, 1000},
		{"TASK_TIMEOUT_MS", c.TaskTimeoutMs, 1000, 86_400_000},
		{"TASK_MAX_TOKENS", c.TaskMaxTokens, 1000, 1_000_000_000},
		{"TASK_MAX_TOOL_CALLS", c.TaskMaxToolCalls, 1, 1_000_000},
		{"APPROVAL_TIMEOUT_MS", c.ApprovalTimeoutMs, 1000, 86_400_000},
		{"ARTIFACT_RETENTION_DAYS", c.ArtifactRetentionDays, 0, 36_500},
		{"TOKEN_EXPIRATION", c.TokenExpiration, 60, 86_400},
	} {
		if n.value < n.low || n.value > n.high {
			return fmt.Errorf("%s is %d; it must be between %d and %d", n.name, n.value, n.low, n.high)
		}
	}
	if !(c.TaskMaxCostUSD >= 0 && c.TaskMaxCostUSD <= 1_000_000) { // NaN too
		return fmt.Errorf("TASK_MAX_COST_USD is %v; it must be between 0 and 1000000", c.TaskMaxCostUSD)
	}
	if c.SessionSecret != "" && len(c.SessionSecret) < 32 {
		return fmt.Errorf("SESSION_SECRET has %d characters; it needs at least 32, or leave it out", len(c.SessionSecret))
	}
	if c.StoreKey != "" {
		if _, err := parseKey(c.StoreKey); err != nil {
			return fmt.Errorf("STORE_KEY %w", err)
		}
	}
	if c.NATSURL != "" && (c.StoreKey == "" || c.SessionSecret == "") {
		return errors.New("NATS_URL is set, which needs STORE_KEY and SESSION_SECRET: every process that shares the store must have the same ones")
	}
	if c.PeerURL != "" && (c.NATSURL == "" || !isOrigin(c.PeerURL)) {
		return fmt.Errorf("PEER_URL is %q; it goes with NATS_URL, and must be http:// or https:// with a host and maybe a port, such as http://10.0.0.5:3000, without a path", c.PeerURL)
	}
	if !c.loopback() && c.Auth == "none" {
		return fmt.Errorf("HOST is %q, which others can reach, but AUTH is none; set AUTH to keys or jwt, or listen on 127.0.0.1", c.Host)
	}
	for _, origin := range c.AllowedOrigins {
		if !isOrigin(origin) {
			return fmt.Errorf("ALLOWED_ORIGINS has %q; an origin is http:// or https:// with a host and maybe a port, such as https://app.example.com, without a path and *", origin)
		}
	}
	if c.PublicURL != "" && !isOrigin(c.PublicURL) {
		return fmt.Errorf("PUBLIC_URL is %q; it must be http:// or https:// with a host and maybe a port, such as https://airlock.example.com, without a path", c.PublicURL)
	}
	if _, err := parseProxies(c.TrustedProxies); err != nil {
		return err
	}
	if u, err := url.Parse(c.OTLPEndpoint); c.OTLPEndpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be the http or https URL of a collector, such as http://localhost:4318")
	}
	return c.validateTokens()
}

// isOrigin reports whether s is an origin as browsers write it.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && !strings.Contains(s, "*") && (u.Scheme == "http" || u.Scheme == "https") &&
		s == u.Scheme+"://"+strings.ToLower(u.Host)
}

func (c *Config) validateTokens() error {
	if c.Auth != "jwt" {
		return nil
	}
	u, err := url.Parse(c.AuthJWKSURL)
	switch {
	case c.AuthJWKSURL == "" || c.AuthAudience == "":
		return errors.New("AUTH is jwt, which needs AUTH_JWKS_URL and AUTH_AUDIENCE")
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopbackHost(u.Hostname())):
		return errors.New("AUTH_JWKS_URL must be an https URL: who can change the keys on their way can sign in as anybody")
	}
	return nil
}

// hosts are the values of the Host header that mean this server, beside loopback's.
func (c *Config) hosts() []string {
	all := c.AllowedHosts
	for _, url := range []string{c.PublicURL, c.peerURL()} {
		if _, host, ok := strings.Cut(url, "://"); ok {
			all = append([]string{host}, all...)
		}
	}
	return all
}

// peerURL is PEER_URL, with the port that the API got.
func (c *Config) peerURL() string {
	if url, ok := strings.CutSuffix(c.PeerURL, ":0"); ok {
		return url + ":" + strconv.Itoa(c.Port)
	}
	return c.PeerURL
}

func (c *Config) loopback() bool { return loopbackHost(c.Host) }

func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c *Config) limits() orchestrator.Limits {
	l := orchestrator.DefaultLimits()
	l.Execution, l.ContextTokens = c.executionLimits(), c.ModelContextTokens
	l.Turns, l.Task = c.TaskMaxTurns, time.Duration(c.TaskTimeoutMs)*time.Millisecond
	l.Tokens, l.ToolCalls, l.CostUSD = c.TaskMaxTokens, c.TaskMaxToolCalls, c.TaskMaxCostUSD
	return l
}

func (c *Config) executionLimits() sandbox.Limits {
	l := sandbox.DefaultLimits()
	l.Wall = time.Duration(c.SandboxTimeoutMs) * time.Millisecond
	l.MemoryBytes = int64(c.SandboxMemoryMB) << 20
	l.CPUQuota = time.Duration(c.SandboxCPUQuota) * time.Microsecond
	return l
}
