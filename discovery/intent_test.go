package discovery

import "testing"

func TestIntentOf(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]intent{
		"which tables are there":        readIntent,
		"how many rows has it":          readIntent,
		"please show me the log":        readIntent,
		"create a branch":               writeIntent,
		"I want to rename the file":     writeIntent,
		"get rid of the old index":      deleteIntent,
		"delete what nobody reads":      deleteIntent,
		"how do I drive to Hamburg":     anyIntent,
		"how can I delete a page":       deleteIntent,
		"petrol stations":               anyIntent,
		"":                              anyIntent,
		"a b c d e f delete everything": anyIntent,
	} {
		if got := intentOf(question); got != want {
			t.Errorf("%q is %d, want %d", question, got, want)
		}
	}
}

func TestIntentOfTool(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]intent{
		"list_issues": readIntent, "compute_vm_delete": deleteIntent, "createOrUpdate": writeIntent,
		"API-post-page": writeIntent, "run_query": readIntent, "start_process": anyIntent, "get_deleted": readIntent, "": anyIntent,
	} {
		if got := intentOfTool(name); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
}

// Among tools that are about the same thing, the one that does what is wanted
// comes first.
func TestSearchHeedsTheIntent(t *testing.T) {
	t.Parallel()
	ix := sampleIndex(t)
	if got := ix.Search("which issues has the repository", 1); got[0].Name != "github__listIssues" {
		t.Errorf("got %v", got)
	}
	if got := ix.Search("make a pull request", 1); got[0].Name != "github__create_pull_request" {
		t.Errorf("got %v", got)
	}
}
