package skills

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"airlock/ident"
)

// How says how a version came to be.
type How string

// How versions come to be.
const (
	ByScript    How = "script"
	ByUpload    How = "upload"
	ByRollback  How = "rollback"
	ByPromotion How = "promotion"
)

// Lookup tells the fingerprint of a tool's schemas as they are now, "" for a tool
// that is not known. It may be nil, which knows none.
type Lookup func(tool string) string

// Origin says what a change of skills comes from.
type Origin struct {
	// Session and Task are those whose script wrote it; empty for an upload.
	Session ident.Session
	Task    ident.Task
	Tools   Lookup
	// Script is the code that was run, and Failed how it ended: the skills that it
	// requires have been run.
	Script string
	Failed bool
}

// Runs count the executions whose script loaded a skill by its path.
type Runs struct {
	Count    int       `json:"count"`
	Failures int       `json:"failures"`
	Last     time.Time `json:"last,omitzero"`
}

// Verification is the outcome of a skill's own example and test.
type Verification struct {
	At     time.Time `json:"at"`
	Passed bool      `json:"passed"`
}

// toolNames finds tools in code: "server__tool", and mcp.server.tool.
var toolNames = regexp.MustCompile(`\b[A-Za-z0-9][A-Za-z0-9-]*(?:_[A-Za-z0-9-]+)*__[A-Za-z0-9_.-]+|\bmcp\.([A-Za-z0-9_]+)\.([A-Za-z0-9_]+)`)

// maxTools bounds the tools of a skill that are remembered.
const maxTools = 64

// toolsOf are the fingerprints of the tools that a skill names in its code or under
// allowed-tools.
func toolsOf(p parsed, known Lookup) map[string]string {
	if known == nil {
		return nil
	}
	found := map[string]string{}
	note := func(tool string) {
		if found[tool] == "" && len(found) < maxTools {
			if print := known(tool); print != "" {
				found[tool] = print
			}
		}
	}
	for _, name := range p.bundle.names() {
		for _, m := range toolNames.FindAllStringSubmatch(string(p.bundle.files[name]), -1) {
			if m[1] != "" {
				note(m[1] + "__" + m[2])
			} else {
				note(strings.TrimRight(m[0], ".-"))
			}
		}
	}
	for _, tool := range p.AllowedTools {
		note(tool)
	}
	return found
}

// stale are the tools whose schemas are no longer what they were.
func (v Version) stale(known Lookup) []string {
	if known == nil {
		return nil
	}
	var changed []string
	for _, tool := range slices.Sorted(maps.Keys(v.Tools)) {
		if now := known(tool); now != "" && now != v.Tools[tool] {
			changed = append(changed, tool)
		}
	}
	return changed
}

// loads finds the paths of skills that a script loads, in JavaScript by require and
// import, in Python by the functions that run or import a file.
var loads = regexp.MustCompile("(?:require|import|run_path|spec_from_file_location|from)\\s*\\(?(?:\\s*[\"'][A-Za-z_]+[\"']\\s*,)?\\s*[\"'`]/skills/([A-Za-z0-9_./-]+)")

// Loaded are the IDs of the skills that a script loads by their paths.
func Loaded(script string) []string {
	var ids []string
	for _, m := range loads.FindAllStringSubmatch(script, -1) {
		parts := strings.Split(m[1], "/")
		id := trimEnding(parts[0])
		if (id == string(ScopeLibrary) || id == string(ScopeShared)) && len(parts) > 1 {
			id += "/" + trimEnding(parts[1])
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// maxRuns bounds the skills that runs are counted of, so that scripts cannot fill
// the index with names.
const maxRuns = 500

// ran counts the runs of the skills that a script loaded. It reports whether there
// were any.
func (ix *index) ran(o Origin, exists func(id string) bool) bool {
	counted := false
	for _, id := range Loaded(o.Script) {
		if !exists(id) || (len(ix.Runs) >= maxRuns && ix.Runs[id].Count == 0) {
			continue
		}
		if ix.Runs == nil {
			ix.Runs = map[string]Runs{}
		}
		r := ix.Runs[id]
		r.Count, r.Last = r.Count+1, time.Now().UTC()
		if o.Failed {
			r.Failures++
		}
		ix.Runs[id], counted = r, true
	}
	return counted
}
