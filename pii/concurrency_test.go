package pii

import (
	"fmt"
	"sync"
	"testing"
)

func TestVaultIsConsistentUnderConcurrentUse(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{Mode: Open, Rank: true})
	const workers, values = 8, 60
	tokens := make([][]string, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range values {
				value := fmt.Sprintf("u%d@example.org", (i+w*7)%values)
				tok, err := v.Tokenize(NewRaw(value), OriginServer(fmt.Sprint(w)))
				if err != nil {
					t.Error(err)
					return
				}
				tokens[w] = append(tokens[w], value+"="+tok.String())
				if back, err := v.Detokenize(tok); err != nil || back.Len() != len(value) {
					t.Errorf("%s: %v, %v", tok, back, err)
				}
				if _, err := v.Filter(NewRaw("x "+value), OriginScript); err != nil {
					t.Error(err)
				}
				if _, err := (Policy{}).Check(v, tok, "crm"); err == nil {
					t.Error("released")
				}
			}
		})
	}
	group.Wait()
	of := map[string]bool{}
	for _, list := range tokens {
		for _, pair := range list {
			of[pair] = true
		}
	}
	if len(of) != values {
		t.Errorf("%d values have %d pairs of value and token", values, len(of))
	}
}
