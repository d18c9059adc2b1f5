package bridge

import (
	"strings"
	"testing"
)

func TestScope(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		scope   Scope
		allowed []string
		refused []string
	}{
		"all":         {ScopeAll, []string{"a__b", "x"}, nil},
		"nothing":     {"", nil, []string{"a__b", ""}},
		"one name":    {"a__b", []string{"a__b"}, []string{"a__bc", "A__b", "a__B", "a__b ", "а__b", "a__ｂ", "a__b\x00"}},
		"one server":  {"a__*", []string{"a__b", "a__"}, []string{"b__a__b", "a_b"}},
		"either":      {"a__* b__c", []string{"a__x", "b__c"}, []string{"b__d"}},
		"both":        {Scope("a__* b__*").And("*__read"), []string{"a__read", "b__read"}, []string{"a__write", "c__read"}},
		"three":       {Scope("a*").And("*b").And("*c*"), []string{"acb"}, []string{"ab", "acbd"}},
		"stars apart": {"a*b*c", []string{"abc", "axbxc", "abbc"}, []string{"acb", "ab"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range tc.allowed {
				if !tc.scope.Allows(n) {
					t.Errorf("%q refuses %q", tc.scope, n)
				}
			}
			for _, n := range tc.refused {
				if tc.scope.Allows(n) {
					t.Errorf("%q allows %q", tc.scope, n)
				}
			}
		})
	}
}

func TestScopeAndWithAll(t *testing.T) {
	t.Parallel()
	if got := ScopeAll.And("a__*"); got != "a__*" {
		t.Errorf("got %q", got)
	}
	if got := Scope("a__*").And(ScopeAll); got != "a__*" {
		t.Errorf("got %q", got)
	}
}

func TestScopeOf(t *testing.T) {
	t.Parallel()
	if s, err := ScopeOf("a__*", "b__c"); err != nil || s != "a__* b__c" {
		t.Errorf("got %q, %v", s, err)
	}
	for _, bad := range []string{"", "a b", "a&b", "ü", "a\n", strings.Repeat("x", maxScope+1)} {
		if _, err := ScopeOf(bad); err == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}

func TestScopeMatchingIsNotExponential(t *testing.T) {
	t.Parallel()
	pattern := Scope(strings.Repeat("a*", 500) + "b")
	if pattern.Allows(strings.Repeat("a", 2000)) {
		t.Error("matched")
	}
}
