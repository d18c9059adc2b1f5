//go:build unix

package mirror

import (
	"os"
	"syscall"
	"testing"
)

func TestWhatIsNoFileIsLeftOut(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	a.write("plain", "x")
	a.write("several names", "x")
	must(t, os.Link(a.path("several names"), a.path("another name")), syscall.Mkfifo(a.path("pipe"), 0o600),
		os.WriteFile(a.path("line\nbreak"), nil, 0o600), os.WriteFile(a.path(`back\slash`), nil, 0o600),
		os.Mkdir(a.path("folder\t"), 0o700), os.WriteFile(a.path("folder\t/file"), nil, 0o600))
	a.push()
	b.pull()
	if got := b.names(); got != "plain" {
		t.Errorf("there is %q", got)
	}
}
