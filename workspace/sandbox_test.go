package workspace_test

import (
	"testing"

	"airlock/runtime/sandbox"
	"airlock/workspace"
)

var _ sandbox.Files = (*workspace.Space)(nil)

// mounted shows how a Space becomes a sandbox.Mounter: Go has no structural match
// for a slice of another package's structs, so whoever wires converts them.
type mounted struct{ *workspace.Space }

func (m mounted) Mounts() []sandbox.Mount {
	var mounts []sandbox.Mount
	for _, mount := range m.Space.Mounts() {
		mounts = append(mounts, sandbox.Mount(mount))
	}
	return mounts
}

var _ sandbox.Mounter = mounted{}

func TestASpaceMountsItsHostFolders(t *testing.T) {
	t.Parallel()
	work, skills := t.TempDir(), t.TempDir()
	s, err := workspace.Open([]workspace.Folder{
		{Guest: "/workspace", Root: work},
		{Guest: "/skills", Root: skills, ReadOnly: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := mounted{s}.Mounts()
	want := []sandbox.Mount{{Guest: "/skills", Host: skills, ReadOnly: true}, {Guest: "/workspace", Host: work}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("mounts are %v, want %v", got, want)
	}
}
