package discovery

import (
	"slices"
	"testing"

	"airlock/servers"
)

// Of several tools about a thing, the one whose name says no more than was asked
// for comes first.
func TestSearchHeedsTheWholeName(t *testing.T) {
	t.Parallel()
	ix, err := NewIndex([]servers.Tool{
		named("store__create_collection_comment", ""), named("store__create_collection_folder", ""),
		named("store__create_collection", ""), named("store__create_collection_tag", ""),
		named("store__delete_collection", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := ix.Search("make a collection", 1); got[0].Name != "store__create_collection" {
		t.Errorf("got %v", got)
	}
}

func TestCalledStems(t *testing.T) {
	t.Parallel()
	var tools []servers.Tool
	for _, name := range []string{"git__git_add", "git__git_log", "git__git_log_all", "git__git_tag", "lab__git_add"} {
		tools = append(tools, named(name, ""))
	}
	ix, err := NewIndex(tools)
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range [][]string{{"add"}, {"log"}, {"log", "all"}, {"tag"}, {"git", "add"}} {
		var got []string
		for _, stem := range ix.ranks.called[tool] {
			got = append(got, ix.ranks.stems[stem])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is called %q, want %q", ix.names[tool], got, want)
		}
	}
}
