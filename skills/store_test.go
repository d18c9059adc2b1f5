package skills

import (
	"testing"

	"airlock/pii"
	"airlock/pii/detect"
)

func testStore(t *testing.T) *Store {
	t.Helper()
	s, err := New(Options{Library: Library(), SharedDir: t.TempDir(), UsersDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// testVault is a session's vault.
func testVault(t *testing.T) *pii.Vault {
	t.Helper()
	d, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: d, Nonce: "k7q2f"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tokenized makes a text a model's, as a session does with a task.
func tokenized(t *testing.T, s string) pii.Tokenized {
	t.Helper()
	text, err := testVault(t).Tokenize(pii.NewRaw(s), pii.OriginUser)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
