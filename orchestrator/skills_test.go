package orchestrator

import (
	"context"
	"errors"
	"testing"

	"airlock/bridge"
	"airlock/orchestrator/llm/llmtest"
	"airlock/runtime/sandbox"
	"airlock/skills"
)

func upload(name, text string) skills.Upload {
	return skills.Upload{Name: name, Files: map[string][]byte{name: []byte(text)}}
}

func folder(name, front string) skills.Upload {
	return skills.Upload{Name: name, Files: map[string][]byte{
		"SKILL.md": []byte("---\nname: " + name + "\ndescription: Counts.\n" + front + "---\n"), "main.js": []byte("module.exports = 1;\n"),
	}}
}

func TestAScriptThatOnlyRunsASkillMayCallWhatTheSkillNames(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), returns("1"))
	for _, u := range []skills.Upload{
		folder("narrow", "allowed-tools: shop__orders farm__*\n"), folder("wide", ""), folder("foreign", "allowed-tools: Bash(git:*) Read\n"),
	} {
		if _, err := s.AddSkill(user, u); err != nil {
			t.Fatal(err)
		}
	}
	session, err := s.sessions.take(user, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.sessions.release(session)
	narrow, err := bridge.ScopeOf("shop__orders", "farm__*")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]bridge.Scope{
		`return await require("/skills/narrow/main.js")({"task":"x"})`:                                                 narrow,
		`import json, runpy; result = runpy.run_path("/skills/narrow/main.py")["run"](json.loads("{\"task\":\"x\"}"))`: narrow,
		`return await require("/skills/wide/main.js")({})`:                                                             bridge.ScopeAll,
		`return await require("/skills/foreign/main.js")({})`:                                                          bridge.ScopeAll,
		`return await require("/skills/unknown/main.js")({})`:                                                          bridge.ScopeAll,
		`return await require("/skills/narrow/main.js")({}); callMCPTool("other__tool", {})`:                           bridge.ScopeAll,
		`const n = await require("/skills/narrow/main.js")({}); return n`:                                              bridge.ScopeAll,
	} {
		if got, err := s.scopeOf(session, code); err != nil || got != want {
			t.Errorf("%s may call %q, %v, want %q", code, got, err, want)
		}
	}
}

func TestVerifyRunsExampleAndTestAndNotesTheOutcome(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), func(_ context.Context, x sandbox.Execution) sandbox.Result {
		if x.Code == "return 1" {
			return returns("1")(t.Context(), x)
		}
		return returns("false")(t.Context(), x)
	})
	if _, err := s.AddSkill(user, upload("a.js", "// Counts.\n// Example: return 1\n// Test: return false\n")); err != nil {
		t.Fatal(err)
	}
	done, err := s.VerifySkill(t.Context(), user, "a")
	if err != nil || len(done) != 2 || !done[0].Passed || done[1].Passed {
		t.Fatalf("the checks ended %+v, %v", done, err)
	}
	if k, _, err := s.Skill(user, "a"); err != nil || k.Verified == nil || k.Verified.Passed {
		t.Errorf("noted is %+v, %v", k.Verified, err)
	}
	if s.sessions.vault(done[0].Session) != nil {
		t.Error("the session of the checks is still there")
	}
	if _, err := s.AddSkill(user, upload("b.js", "// Counts.\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.VerifySkill(t.Context(), user, "b"); !errors.Is(err, ErrNoChecks) {
		t.Errorf("a skill without checks: %v", err)
	}
}
