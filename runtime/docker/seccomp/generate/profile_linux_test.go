package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

func made(t *testing.T) ([]byte, seccomp.Seccomp) {
	t.Helper()
	data, err := makeProfile()
	if err != nil {
		t.Fatal(err)
	}
	var p seccomp.Seccomp
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return data, p
}

func TestTheCommittedProfileIsUpToDate(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../profile.json")
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := made(t); !bytes.Equal(data, committed) {
		t.Error("profile.json differs from what is made now; run go generate ./runtime/docker/seccomp and look at the difference")
	}
}

// allowed are the rules that let a call pass, with their conditions.
func allowed(p seccomp.Seccomp, name string) []*seccomp.Syscall {
	var rules []*seccomp.Syscall
	for _, rule := range p.Syscalls {
		if rule.Action == specs.ActAllow && slices.Contains(rule.Names, name) {
			rules = append(rules, rule)
		}
	}
	return rules
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	_, p := made(t)
	if p.DefaultAction != specs.ActErrno {
		t.Errorf("calls without a rule get %q", p.DefaultAction)
	}
	for _, d := range denials {
		if d.reason == "" {
			t.Errorf("%v are refused without a reason", d.names)
		}
		for _, name := range d.names {
			if len(allowed(p, name)) > 0 {
				t.Errorf("%s is refused and allowed", name)
			}
		}
	}
	for _, a := range p.ArchMap {
		if len(a.SubArches) > 0 {
			t.Errorf("%s lets calls of %v pass", a.Arch, a.SubArches)
		}
	}
}

func TestWhatIsNarrowed(t *testing.T) {
	t.Parallel()
	_, p := made(t)
	for _, name := range []string{"prlimit64", "socket", "socketpair", "chmod", "fchmod", "fchmodat", "open", "openat", "creat"} {
		rules := allowed(p, name)
		if len(rules) == 0 {
			t.Errorf("%s is not allowed at all", name)
		}
		for _, rule := range rules {
			if len(rule.Args) != 1 || rule.Includes != nil {
				t.Errorf("%s is allowed by a rule with %d conditions", name, len(rule.Args))
			}
		}
	}
	for _, name := range []string{"read", "write", "mmap", "execve", "connect", "futex", "clone"} {
		if len(allowed(p, name)) == 0 {
			t.Errorf("%s, which interpreters need, is refused", name)
		}
	}
}
