package pii

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// datasetTexts returns the texts of the shared data sets, of whatever shape.
func datasetTexts(t *testing.T) []string {
	t.Helper()
	root := os.Getenv("AIRLOCK_TESTDATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	var texts []string
	for _, name := range []string{"failure_cases.jsonl", "recognizer_cases.jsonl", "synth_dataset_v2.json"} {
		data, err := os.ReadFile(filepath.Join(root, "pii", name))
		if err != nil {
			t.Skipf("no data set: %v; set AIRLOCK_TESTDATA to the folder that holds pii/%s", err, name)
		}
		texts = append(texts, string(data[:min(len(data), 64<<10)]))
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			texts = append(texts, lines.Text())
			var one struct{ Text string }
			if json.Unmarshal(lines.Bytes(), &one) == nil {
				texts = append(texts, one.Text)
			}
		}
	}
	return texts
}

// TestLawsOnTheDataSets holds on real texts what the fuzz targets hold on all:
// texts come back, JSON stays valid, tokenizing again changes nothing.
func TestLawsOnTheDataSets(t *testing.T) {
	t.Parallel()
	texts := datasetTexts(t)
	v := testVault(t, VaultOptions{})
	for i, text := range texts {
		tok := tokenize(t, v, text, OriginServer("data"))
		checkRoundTrip(t, v, text, tok.String(), []byte{byte(i), 17, 3})
		if again := tokenize(t, v, tok.String(), OriginServer("data")); again != tok {
			t.Errorf("%q\n became %q\n and tokenized again %q", text, tok, again)
		}
	}
	if len(texts) < 1000 {
		t.Errorf("only %d texts", len(texts))
	}
}
