package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"airlock/ident"
)

const me, other = "0123456789abcdef01234567", "ba9876543210ba9876543210"

// about is a SKILL.md that is well-formed.
func about(name string) string {
	return "---\nname: " + name + "\ndescription: Counts the sheep in the field.\n---\n"
}

// checkout makes a session's copy and returns its folder.
func checkout(t *testing.T, s *Store, user string, session ident.Session) string {
	t.Helper()
	dir, err := s.Checkout(user, session)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func commitAll(t *testing.T, s *Store, user string, session ident.Session) Report {
	t.Helper()
	r, err := s.Commit(t.Context(), user, Origin{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// own are the IDs of a user's own skills.
func own(t *testing.T, s *Store, user string) []string {
	t.Helper()
	all, err := s.List(user, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range all {
		if k.Scope == ScopeUser {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// seedSkill is saved as it is written in the example that many start from.
const seedSkill = `
module.exports = async function summarizeSales(data) {
  return data.reduce((acc, sale) => {
    acc.total += sale.amount;
    acc.count += 1;
    return acc;
  }, { total: 0, count: 0 });
};
`

func TestASkillThatOneSessionSavesIsThereInTheNext(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	first, second := ident.NewSession(), ident.NewSession()
	dir := checkout(t, s, me, first)
	put(t, dir, "sales_summary.js", seedSkill)
	put(t, dir, "sheep-count/SKILL.md", about("sheep-count"))
	put(t, dir, "sheep-count/main.js", "module.exports = async () => 3;\n")
	put(t, dir, "sheep-count/lib/more.json", "{}")
	r := commitAll(t, s, me, first)
	if want := []string{"sales_summary", "sheep-count"}; !slices.Equal(r.Saved, want) || len(r.Refused) > 0 {
		t.Fatalf("saved %v, refused %v", r.Saved, r.Refused)
	}
	if got := commitAll(t, s, me, first); len(got.Saved)+len(got.Refused)+len(got.Removed) > 0 {
		t.Errorf("saved what is unchanged: %+v", got)
	}
	next := checkout(t, s, me, second)
	for name, want := range map[string]string{"sales_summary.js": seedSkill, "sheep-count/lib/more.json": "{}"} {
		if data, err := os.ReadFile(filepath.Join(next, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
	k, body, err := s.Get(me, "sheep-count", nil)
	if err != nil || k.Path != "/skills/sheep-count/main.js" || body.Len() != len(about("sheep-count")) {
		t.Errorf("got %+v, %v", k, err)
	}
	if got := own(t, s, other); len(got) > 0 {
		t.Errorf("another user sees %v", got)
	}
}

func TestASavedSkillIsFoundByADifferentWording(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	session := ident.NewSession()
	put(t, checkout(t, s, me, session), "churn_rate.js", "// Computes the churn rate of customers per quarter.\n// Keywords: churn rate, customer churn, lost customers\nmodule.exports = async () => ({report: '1'});\n")
	put(t, checkout(t, s, me, session), "vague.js", "module.exports = 1;\n")
	commitAll(t, s, me, session)
	for task, want := range map[string]bool{
		"Show me the customer churn by quarter": true,
		"what's the churn rate":                 true,
		"who are the lost customers":            true,
		"run vague":                             false, // it does not say what it is for
		"what is the rate of the dollar today":  false,
	} {
		found, err := s.Match(me, session, tokenized(t, task), nil)
		if err != nil {
			t.Fatal(err)
		}
		sure := len(found) > 0 && found[0].Confidence >= Confident
		if sure != want || (want && found[0].ID != "churn_rate") {
			t.Errorf("%s: found %v", task, found)
		}
	}
}

func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	good := "module.exports = 1;\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a script that does not parse":    {map[string]string{"a.js": "// x\nfunction {"}, "a.js line 2: does not parse"},
		"an e-mail address":               {map[string]string{"a.js": "const to =\n 'jane.roe@example.com';"}, "a.js line 2: holds personal data or a secret (EMAIL)"},
		"a card number":                   {map[string]string{"a.js": "pay('4111 1111 1111 1111')"}, "(CREDIT_CARD)"},
		"a PII token":                     {map[string]string{"a.js": "send('[EMAIL_1_k7q2f]')"}, "a.js line 1: holds a PII token"},
		"a token without brackets":        {map[string]string{"a.js": "send('email_12_k7q2f')"}, "holds a PII token"},
		"an address in a SKILL.md":        {map[string]string{"a/SKILL.md": about("a") + "Ask jane.roe@example.com.", "a/main.js": good}, "SKILL.md line 5: holds"},
		"an address as a file's name":     {map[string]string{"a/SKILL.md": about("a"), "a/415-555-0123.txt": "x"}, "(PHONE)"},
		"a folder without SKILL.md":       {map[string]string{"a/main.js": good}, "has no SKILL.md"},
		"a name that is not the folder's": {map[string]string{"a/SKILL.md": about("b")}, "name differs from the folder's"},
		"a name in capitals":              {map[string]string{"A/SKILL.md": about("A")}, "name has capital letters"},
		"a bad front matter":              {map[string]string{"a/SKILL.md": "---\nname: a\ncolour: x\n---\n"}, "SKILL.md line 3: unknown field"},
		"a file that is no skill":         {map[string]string{"notes.txt": "x"}, "a skill's name must be letters"},
		"a file without an ending":        {map[string]string{"notes": "x"}, "a skill is a folder with SKILL.md, or a file"},
		"a hidden file":                   {map[string]string{".x.js": good}, "a skill's name must be letters"},
		"the name library":                {map[string]string{"library.js": good}, "reserved"},
		"the name shared":                 {map[string]string{"Shared/SKILL.md": strings.Replace(about("x"), "x", "Shared", 1)}, "name has capital letters"},
		"the name shared as a file":       {map[string]string{"SHARED.js": good}, "reserved"},
		"a shipped skill's name":          {map[string]string{"top-customers.js": good}, "a skill of the library or a shared one has that name"},
		"one name twice":                  {map[string]string{"a.js": good, "a.py": "x = 1\n"}, "another of the user's skills has that name"},
		"bad JSON beside":                 {map[string]string{"a/SKILL.md": about("a"), "a/data.json": "{"}, "data.json: is not valid JSON"},
		"bytes that are no text":          {map[string]string{"a.js": "x\xff"}, "not UTF-8"},
		"a NUL":                           {map[string]string{"a.js": "x\x00"}, "not UTF-8"},
		"a huge file":                     {map[string]string{"a.js": strings.Repeat("x;\n", 100_000)}, "cannot be read: the file has more than"},
		"much code":                       {map[string]string{"a.js": strings.Repeat("x;\n", 30_000)}, "more than 64 KiB of code"},
		"parentheses without end":         {map[string]string{"a.js": strings.Repeat("(", 60_000)}, "nested more than"},
		"negations without end":           {map[string]string{"a.js": strings.Repeat("! ", 30_000)}, "nested more than"},
		"a name with a path in it":        {map[string]string{"a/SKILL.md": about("a"), "a/b/..x": "x"}, "names in a skill must be"},
		"folders too deep":                {map[string]string{"a/SKILL.md": about("a"), "a/b/c/d/e/f/g.txt": "x"}, "four deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testStore(t)
			session := ident.NewSession()
			dir := checkout(t, s, me, session)
			put(t, dir, "fine.js", good)
			for file, text := range tc.files {
				put(t, dir, file, text)
			}
			r := commitAll(t, s, me, session)
			if len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Reason, tc.want) {
				t.Fatalf("refused %v, want %q", r.Refused, tc.want)
			}
			for _, secret := range []string{"jane", "4111", "k7q2f", "0123", "colour"} {
				if strings.Contains(fmt.Sprint(r), secret) {
					t.Errorf("the report holds %q", secret)
				}
			}
			if !slices.Contains(r.Saved, "fine") {
				t.Errorf("the good one beside it is not saved: %v", r.Saved)
			}
		})
	}
}

func TestCommitSavesWhatOnlyLooksPersonal(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	session := ident.NewSession()
	dir := checkout(t, s, me, session)
	put(t, dir, "a.js", "const UTF_8_bytes = 3, version = '1.2.3', id = '550e8400-e29b-41d4-a716-446655440000';\n")
	put(t, dir, "b/Skill.md", "---\nname: Your Skill\ndescription: What it does\nversion: 1.0.0\ndependencies: package>=1.0\n---\n# Your Skill\n")
	if r := commitAll(t, s, me, session); len(r.Refused) > 0 || len(r.Saved) != 2 {
		t.Errorf("saved %v, refused %v", r.Saved, r.Refused)
	}
}

func TestTheLibraryPassesItsOwnRules(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	for _, p := range s.library {
		if err := s.parsers.check(p.bundle); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		if err := s.guard.check(p.bundle); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		if code := p.bundle.files["main.js"]; strings.Count(string(code), "\n") >= 200 {
			t.Errorf("%s has 200 lines or more", p.ID)
		}
	}
	if len(s.library) < 4 {
		t.Errorf("there are %d skills", len(s.library))
	}
}

// TestHostileCopies puts into a session's copy what a script in a container could.
func TestHostileCopies(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	session := ident.NewSession()
	dir := checkout(t, s, me, session)
	outside := filepath.Join(t.TempDir(), "x.js")
	put(t, filepath.Dir(outside), "x.js", "module.exports = 'outside';\n")
	put(t, dir, "folder/SKILL.md", about("folder"))
	for _, err := range []error{
		os.Symlink(outside, filepath.Join(dir, "link.js")),
		os.Link(outside, filepath.Join(dir, "hard.js")),
		syscall.Mkfifo(filepath.Join(dir, "pipe.js"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "folder", "main.js")),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "dir")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r := commitAll(t, s, me, session)
	if len(r.Saved) > 0 || len(r.Refused) != 5 {
		t.Errorf("saved %v, refused %v", r.Saved, r.Refused)
	}
}

func TestMountPointsOfOtherScopesAreNoSkills(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	session := ident.NewSession()
	dir := checkout(t, s, me, session)
	for _, name := range []string{"library", "shared"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if r := commitAll(t, s, me, session); len(r.Refused) != 0 || len(r.Saved) != 0 {
		t.Errorf("empty mount points gave %+v", r)
	}
	put(t, dir, "library/main.js", "// Counts.\nmodule.exports = 1")
	if r := commitAll(t, s, me, session); len(r.Refused) != 1 {
		t.Errorf("a skill named library gave %+v, want it refused", r)
	}
}

func TestSessionsOfOneUserMergePerSkill(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	a, b := ident.NewSession(), ident.NewSession()
	dirA := checkout(t, s, me, a)
	put(t, dirA, "one.js", "// first\n")
	put(t, dirA, "two.js", "// first\n")
	put(t, dirA, "three.js", "// first\n")
	commitAll(t, s, me, a)
	dirB := checkout(t, s, me, b)

	put(t, dirA, "one.js", "// by a\n") // only a changes it
	put(t, dirA, "two.js", "// by a\n") // both do
	put(t, dirB, "two.js", "// by b\n")
	put(t, dirB, "four.js", "// by b\n")                             // new in b
	if err := os.Remove(filepath.Join(dirA, "one.js")); err != nil { // a changes its mind
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dirB, "three.js")); err != nil { // b removes
		t.Fatal(err)
	}
	put(t, dirA, "one.js", "// by a\n")
	commitAll(t, s, me, a)
	r := commitAll(t, s, me, b)
	if !slices.Equal(r.Saved, []string{"four", "two"}) || !slices.Equal(r.Removed, []string{"three"}) {
		t.Errorf("b saved %v and removed %v", r.Saved, r.Removed)
	}
	for _, dir := range []string{checkout(t, s, me, a), checkout(t, s, me, b), checkout(t, s, me, ident.NewSession())} {
		for name, want := range map[string]string{"one.js": "// by a\n", "two.js": "// by b\n", "three.js": "", "four.js": "// by b\n"} {
			if data, _ := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
				t.Errorf("%s holds %q, want %q", name, data, want)
			}
		}
	}
}

func TestASkillThatAnotherSessionChangedIsNotRemoved(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	a, b := ident.NewSession(), ident.NewSession()
	dirA := checkout(t, s, me, a)
	put(t, dirA, "one.js", "// first\n")
	commitAll(t, s, me, a)
	dirB := checkout(t, s, me, b)
	put(t, dirA, "one.js", "// better\n")
	commitAll(t, s, me, a)
	if err := os.Remove(filepath.Join(dirB, "one.js")); err != nil {
		t.Fatal(err)
	}
	if r := commitAll(t, s, me, b); len(r.Removed) > 0 {
		t.Errorf("removed %v", r.Removed)
	}
	if data, _ := os.ReadFile(filepath.Join(checkout(t, s, me, b), "one.js")); string(data) != "// better\n" {
		t.Errorf("the next copy holds %q", data)
	}
}

func TestWhatWasRefusedStaysToBePutRight(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	session := ident.NewSession()
	dir := checkout(t, s, me, session)
	put(t, dir, "a.js", "function {")
	if r := commitAll(t, s, me, session); len(r.Refused) != 1 {
		t.Fatalf("refused %v", r.Refused)
	}
	checkout(t, s, me, session)
	if data, _ := os.ReadFile(filepath.Join(dir, "a.js")); string(data) != "function {" {
		t.Errorf("it holds %q", data)
	}
	put(t, dir, "a.js", "function f() {}")
	if r := commitAll(t, s, me, session); !slices.Equal(r.Saved, []string{"a"}) {
		t.Errorf("saved %v", r.Saved)
	}
}

// TestManySessionsAtOnceNeverLeaveHalfASkill has sessions write folders of two files
// that belong together, while others read.
func TestManySessionsAtOnceNeverLeaveHalfASkill(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	var writers sync.WaitGroup
	for i := range 6 {
		writers.Go(func() {
			session := ident.NewSession()
			for round := range 5 {
				dir := checkout(t, s, me, session)
				mark := fmt.Sprintf("// %d.%d\n", i, round)
				put(t, dir, "pair/SKILL.md", about("pair")+mark)
				put(t, dir, "pair/main.js", mark)
				if r := commitAll(t, s, me, session); len(r.Refused) > 0 {
					t.Errorf("refused %v", r.Refused)
				}
			}
		})
	}
	writers.Go(func() {
		for range 30 {
			session := ident.NewSession()
			dir := checkout(t, s, me, session)
			text, err := os.ReadFile(filepath.Join(dir, "pair/SKILL.md"))
			if err != nil {
				continue
			}
			code, err := os.ReadFile(filepath.Join(dir, "pair/main.js"))
			if err != nil || !strings.HasSuffix(string(text), string(code)) {
				t.Errorf("half a skill: %v", err)
			}
		}
	})
	writers.Wait()
	if got := own(t, s, me); !slices.Equal(got, []string{"pair"}) {
		t.Errorf("there are %v", got)
	}
	versions, err := os.ReadDir(filepath.Join(s.shelf.host, me, "versions", "pair"))
	if err != nil || len(versions) > keepVersions {
		t.Errorf("%d versions are kept, %v", len(versions), err)
	}
}

func TestSkillsAreBoundedPerUser(t *testing.T) {
	t.Parallel()
	s, err := New(Options{UsersDir: t.TempDir(), MaxSkills: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := ident.NewSession()
	dir := checkout(t, s, me, session)
	for i := range 5 {
		put(t, dir, fmt.Sprintf("s%d.js", i), fmt.Sprintf("// %d\n", i))
	}
	if r := commitAll(t, s, me, session); len(r.Saved) != 3 || len(r.Refused) != 2 || !strings.Contains(r.Refused[0].Reason, "may keep 3") {
		t.Errorf("saved %v, refused %v", r.Saved, r.Refused)
	}
}

func TestACopyWithTooManyEntriesIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	dir := checkout(t, s, me, "s")
	for i := range maxEntries + 1 {
		put(t, dir, fmt.Sprintf("s%d.js", i), "")
	}
	if r := commitAll(t, s, me, "s"); len(r.Saved) > 0 || len(r.Refused) != 1 {
		t.Errorf("saved %d, refused %v", len(r.Saved), r.Refused)
	}
}

func BenchmarkCommitOfNothing(b *testing.B) {
	s, err := New(Options{UsersDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	dir, err := s.Checkout(me, "s")
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.js", i)), []byte("// x\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Commit(b.Context(), me, Origin{Session: "s"}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestKeysThatAreNoPseudonymsAreRefused(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	for _, key := range []string{"", "..", "a/b", "someone@example.com", strings.Repeat("a", 65)} {
		for name, err := range map[string]error{
			"List":       second(s.List(key, nil)),
			"Match":      second(s.Match(key, "s", tokenized(t, "x"), nil)),
			"Checkout":   second(s.Checkout(key, "s")),
			"of session": second(s.Checkout(me, ident.Session(key))),
			"Commit":     second(s.Commit(t.Context(), key, Origin{Session: "s"})),
			"Discard":    s.Discard(me, ident.Session(key)),
			"RemoveUser": s.RemoveUser(key),
		} {
			if err == nil || !strings.Contains(err.Error(), ErrKey.Error()) {
				t.Errorf("%s of %q says %v", name, key, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestCommitStopsWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	put(t, checkout(t, s, me, "s"), "a.js", "// x\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Commit(ctx, me, Origin{Session: "s"}); err == nil {
		t.Error("it went on")
	}
	if got := own(t, s, me); len(got) > 0 {
		t.Errorf("saved %v", got)
	}
}

func TestPruneKeepsSkillsAndNoCopies(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	one, other := checkout(t, s, me, "one"), checkout(t, s, me, "other")
	put(t, one, "a.js", "// x\n")
	put(t, other, "b.js", "// ask ann@example.org\n")
	commitAll(t, s, me, "one")
	if err := s.Prune(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{one, other} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a copy is still there: %v", err)
		}
	}
	if got := own(t, s, me); len(got) != 1 {
		t.Errorf("the skills are %v", got)
	}
}

func TestRemoveAndDiscard(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	dir := checkout(t, s, me, "s")
	put(t, dir, "a.js", "// x\n")
	commitAll(t, s, me, "s")
	if err := s.Discard(me, "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the copy is still there")
	}
	if got := own(t, s, me); len(got) != 1 {
		t.Errorf("discarding a copy left %v", got)
	}
	if err := s.RemoveUser(me); err != nil {
		t.Fatal(err)
	}
	if got := own(t, s, me); len(got) != 0 {
		t.Errorf("removing the user left %v", got)
	}
}

func TestSharedSkillsAreListedAndFaultyOnesToldApart(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	put(t, shared, "herd/SKILL.md", about("herd"))
	put(t, shared, "herd/main.py", "x = 1\n")
	put(t, shared, "broken/SKILL.md", "---\nname: broken\n---\n")
	put(t, shared, "README.md", "not a skill")
	s, err := New(Options{Library: Library(), SharedDir: shared, UsersDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k, _, err := s.Get(me, "herd", nil)
	if err != nil || k.ID != "shared/herd" || k.Path != "/skills/shared/herd/main.py" || k.Language != "python" {
		t.Errorf("got %+v, %v", k, err)
	}
	if f := s.Faults(); len(f) != 1 || !strings.Contains(f[0].Error(), "needs a description") {
		t.Errorf("faults are %v", f)
	}
	put(t, checkout(t, s, me, "s"), "herd.js", "// x\n")
	if r := commitAll(t, s, me, "s"); len(r.Refused) != 1 {
		t.Errorf("a shared skill's name was taken: %+v", r)
	}
}
