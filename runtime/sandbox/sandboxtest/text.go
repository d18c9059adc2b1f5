package sandboxtest

import (
	"testing"

	"airlock/pii"
	"airlock/pii/detect"
)

// Text reads raw text the way a model gets to read it, through a vault, here with
// detectors that find nothing.
func Text(t testing.TB, r pii.Raw) string {
	t.Helper()
	blind, err := detect.New(detect.Options{Disabled: allTypes(t)})
	if err != nil {
		t.Fatalf("make detectors that find nothing: %v", err)
	}
	vault, err := pii.NewVault(pii.VaultOptions{Detector: blind})
	if err != nil {
		t.Fatalf("make a vault: %v", err)
	}
	text, err := vault.Tokenize(r, pii.OriginScript)
	if err != nil {
		t.Fatalf("read raw text: %v", err)
	}
	return text.String()
}

func allTypes(t testing.TB) []detect.Type {
	t.Helper()
	all, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatalf("make detectors: %v", err)
	}
	var types []detect.Type
	for _, info := range all.Types() {
		types = append(types, info.Type)
	}
	return types
}
