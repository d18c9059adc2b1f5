package orchestrator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// The names of the tools that a model is offered.
const (
	toolExecute = "execute_code"
	toolList    = "list_mcp_tools"
	toolDetails = "get_mcp_tool_details"
)

func modelTools() []llm.Tool {
	return []llm.Tool{
		{
			Name:        toolExecute,
			Description: pii.Static(`Run a script in the sandbox and get what it returns and prints. Use it for all work on data: call tools from inside the script and return only what you need.`),
			InputSchema: pii.Static(`{"type":"object","properties":{"language":{"type":"string","enum":["javascript","typescript","python","bash"],"default":"javascript"},"code":{"type":"string","description":"The script. In JavaScript, return the result; await works at the top level."}},"required":["code"],"additionalProperties":false}`),
		},
		{
			Name:        toolList,
			Description: pii.Static(`List or search the MCP tools that scripts can call. Without a query it gives names; with one the best, where "fits": false says that no tool seems to do it.`),
			InputSchema: pii.Static(`{"type":"object","properties":{"query":{"type":"string"},"server":{"type":"string"},"limit":{"type":"integer","minimum":1},"detail":{"type":"string","enum":["name","summary","full"]}},"additionalProperties":false}`),
		},
		{
			Name:        toolDetails,
			Description: pii.Static(`Describe one MCP tool: its parameters and result as a TypeScript signature and JSON Schema.`),
			InputSchema: pii.Static(`{"type":"object","properties":{"name":{"type":"string","description":"server__tool"}},"required":["name"],"additionalProperties":false}`),
		},
	}
}

// callTool does one call of the model. What the model did wrong comes back as a
// failed result for it to mend; an error ends the task.
func (a *agent) callTool(ctx context.Context, call llm.Call) (content pii.Tokenized, failed bool, err error) {
	switch call.Name {
	case toolExecute:
		return a.executeCode(ctx, call.Arguments)
	case toolList:
		content, failed, err = a.listTools(ctx, call.Arguments)
	case toolDetails:
		content, failed, err = a.toolDetails(ctx, call.Arguments)
	default:
		content, failed = pii.Static("There is no such tool. Call MCP tools from a script in execute_code: await callMCPTool(name, args)."), true
	}
	if failed {
		a.countFailure(call.Name+": "+content.String(), content)
	}
	return content, failed, err
}

// arguments decodes what the model wrote; fault is for the model to read.
func arguments(text string, into any) (fault pii.Tokenized, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return pii.Static("The arguments do not fit the tool's input schema: they must be one JSON object with the named fields only."), false
	}
	return noText, true
}

func (a *agent) executeCode(ctx context.Context, text string) (pii.Tokenized, bool, error) {
	var in struct {
		Language sandbox.Language `json:"language"`
		Code     string           `json:"code"`
	}
	fault, ok := arguments(text, &in)
	in.Language = cmp.Or(in.Language, sandbox.JavaScript)
	switch _, err := a.backend(in.Language, ""); {
	case !ok:
	case in.Code == "":
		fault = pii.Static("The code is empty.")
	case err != nil:
		fault = pii.Static("No sandbox here runs that language. Use javascript.")
	case a.callsLeft() == 0:
		return noText, false, errCalls
	}
	if !fault.IsZero() {
		a.countFailure(fault.String(), fault)
		return fault, true, nil
	}
	out, err := a.execute(ctx, a.task.session, script{
		language: in.Language, code: in.Code, wall: a.opts.Limits.Execution.Wall, task: a.task.task.ID, emit: a.watch, calls: a.callsLeft(),
	})
	if err != nil {
		return noText, false, err
	}
	a.record(out)
	view, err := a.tellModel(a.task.session, out)
	if err != nil {
		return noText, false, err
	}
	if err := ctx.Err(); err != nil {
		return noText, false, context.Cause(ctx)
	}
	if out.Error == nil {
		return view, false, nil
	}
	about, err := a.aboutScript(out.Error)
	a.countFailure(fmt.Sprintf("%s %s %d", out.Reason, out.Error.Message, out.Error.Line), about)
	return view, true, err
}

// record adds an execution to the task's snapshot.
func (a *agent) record(out Execution) {
	a.task.addLogs(slices.AppendSeq(slices.Collect(pii.Lines(out.Stdout)), pii.Lines(out.Stderr)))
	a.task.change(func(task *Task) {
		task.Usage.Executions++
		if out.Error == nil { // what was reached outlasts a later failure
			task.Output = out.Value
		}
		for _, made := range out.Artifacts {
			task.Artifacts = replaceArtifact(task.Artifacts, made)
		}
	})
}

func replaceArtifact(list []Artifact, made Artifact) []Artifact {
	for i := range list {
		if list[i].Name == made.Name {
			list[i] = made
			return list
		}
	}
	return append(list, made)
}

func (s *session) viewer() bridge.Viewer {
	return bridge.Viewer{User: s.user, Session: s.id, Vault: s.vault, Scope: bridge.ScopeAll}
}

func (a *agent) viewer() bridge.Viewer {
	v := a.task.session.viewer()
	v.Task = a.task.task.ID
	return v
}

// modelFound is how many tools a model's search shows unless it says otherwise:
// about 600 of its tokens.
const modelFound = 8

func (a *agent) listTools(ctx context.Context, text string) (pii.Tokenized, bool, error) {
	var in struct {
		Query  string `json:"query"`
		Server string `json:"server"`
		Limit  int    `json:"limit"`
		Detail string `json:"detail"`
	}
	if fault, ok := arguments(text, &in); !ok {
		return fault, true, nil
	}
	q := bridge.Query{Text: in.Query, Server: in.Server, Limit: in.Limit, Detail: bridge.Detail(in.Detail)}
	if q.Text != "" && q.Detail == "" {
		q.Detail, q.Limit = bridge.DetailSummary, cmp.Or(q.Limit, modelFound)
	}
	found, err := a.opts.Bridge.Search(ctx, a.viewer(), q)
	found, err = a.outline(a.task.session, found, err)
	return a.told(ctx, found, err)
}

// outline is found, shortened to a model's share.
func (s *Service) outline(session *session, found pii.Tokenized, err error) (pii.Tokenized, error) {
	if err != nil || found.Len() <= s.opts.Limits.ModelBytes {
		return found, err
	}
	short, err := shortJSON(session.vault, found, s.opts.Limits.ModelBytes)
	if err != nil {
		return noText, err
	}
	return session.vault.Tokenize(pii.NewRaw(string(short)), pii.OriginScript)
}

// describeTool describes one tool to a model.
func (s *Service) describeTool(ctx context.Context, session *session, name string) (pii.Tokenized, error) {
	found, err := s.opts.Bridge.Describe(ctx, session.viewer(), name)
	return s.outline(session, found, err)
}

func (a *agent) toolDetails(ctx context.Context, text string) (pii.Tokenized, bool, error) {
	var in struct {
		Name string `json:"name"`
	}
	if fault, ok := arguments(text, &in); !ok {
		return fault, true, nil
	}
	found, err := a.opts.Bridge.Describe(ctx, a.viewer(), in.Name)
	return a.told(ctx, found, err)
}

// told turns the bridge's refusals into results that the model can act on.
func (a *agent) told(ctx context.Context, found pii.Tokenized, err error) (pii.Tokenized, bool, error) {
	var refused *bridge.Error
	switch {
	case err == nil:
		return pii.Cut(found, a.opts.Limits.ModelBytes), false, nil
	case ctx.Err() != nil:
		return noText, false, context.Cause(ctx)
	case errors.As(err, &refused):
		text, err := a.vault.Tokenize(pii.NewRaw(refused.Message+". "+refused.Hint), pii.OriginScript)
		return text, true, err
	default:
		return noText, false, err
	}
}

// executionView is what a model is told of an execution.
type executionView struct {
	Status    sandbox.Reason  `json:"status"`
	Result    json.RawMessage `json:"result,omitempty"`
	Stdout    pii.Tokenized   `json:"stdout,omitzero"`
	Stderr    pii.Tokenized   `json:"stderr,omitzero"`
	Error     *errorView      `json:"error,omitempty"`
	Artifacts []pii.Tokenized `json:"artifacts,omitempty"`
	Saved     []string        `json:"skillsSaved,omitempty"`
	Refused   []RefusedSkill  `json:"skillsRefused,omitempty"`
	Note      string          `json:"note,omitempty"`
	Duration  int64           `json:"durationMs"`
}

type errorView struct {
	Name    pii.Tokenized `json:"name"`
	Message pii.Tokenized `json:"message"`
	Line    int           `json:"line,omitempty"`
	Hint    pii.Tokenized `json:"hint,omitzero"`
}

// tellModel puts an execution into JSON for the model. What is too long is cut,
// and the whole of it kept in a file that later scripts can read.
func (s *Service) tellModel(session *session, out Execution) (pii.Tokenized, error) {
	view := executionView{
		Status: out.Reason, Saved: out.Saved, Refused: out.Refused, Duration: out.Duration.Milliseconds(),
		Stdout: out.Stdout, Stderr: out.Stderr,
	}
	for _, made := range out.Artifacts {
		view.Artifacts = append(view.Artifacts, made.Name)
	}
	if out.Error != nil {
		view.Error = &errorView{
			Name: out.Error.Name, Message: pii.Cut(out.Error.Message, s.opts.Limits.ModelBytes/4),
			Line: out.Error.Line, Hint: out.Error.Hint,
		}
	}
	view.Result = json.RawMessage(out.Value.String())
	if err := s.fit(session, &view, out); err != nil {
		return noText, err
	}
	text, err := json.Marshal(view)
	if err != nil {
		return noText, fmt.Errorf("put the execution's result into JSON: %w", err)
	}
	return session.vault.Tokenize(pii.NewRaw(string(text)), pii.OriginScript)
}

// fit shortens what passes the model's share, and keeps the whole in the workspace.
func (s *Service) fit(session *session, view *executionView, out Execution) (err error) {
	share := s.opts.Limits.ModelBytes / 3
	if out.Stdout.Len() > share {
		view.Stdout = shortLines(out.Stdout, share)
		view.Note += keepWhole(session, out.ID, "stdout", out.Stdout)
	}
	if out.Stderr.Len() > share {
		view.Stderr = shortLines(out.Stderr, share)
		view.Note += keepWhole(session, out.ID, "stderr", out.Stderr)
	}
	if out.Value.Len() > share {
		view.Result, err = shortJSON(session.vault, out.Value, share)
		view.Note += keepWhole(session, out.ID, "result.json", out.Value)
	}
	if view.Note != "" && err == nil {
		err = s.keepFiles(context.Background(), session)
	}
	view.Note = strings.TrimSpace(view.Note)
	return err
}

// keepWhole writes what is shortened to a file that later scripts can read, and says
// so to the model. A workspace without room for it costs the rest, not the task.
func keepWhole(session *session, id ident.Execution, kind string, whole pii.Tokenized) string {
	name, _, _ := strings.Cut(kind, ".")
	path := fmt.Sprintf("/workspace/.airlock/%s.%s", id, kind)
	if err := session.files.WriteFile(path, []byte(whole.String())); err != nil {
		return fmt.Sprintf("%s has %d bytes and is shortened here; the workspace has no room for all of it. ", name, whole.Len())
	}
	return fmt.Sprintf("%s has %d bytes and is shortened here; all of it is in %s. ", name, whole.Len(), path)
}
