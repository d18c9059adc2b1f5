package orchestrator

import (
	"errors"
	"strings"
	"testing"
	"time"

	"airlock/bridge"
	"airlock/pii"
	"airlock/pii/detect"
)

// A script that gives up its calls, or whose user has gone, may ask again at once.
func TestApprovalsAreBounded(t *testing.T) {
	t.Parallel()
	detector, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vault, err := pii.NewVault(pii.VaultOptions{Detector: detector})
	if err != nil {
		t.Fatal(err)
	}
	const large = 1 << 20
	for name, tc := range map[string]struct {
		bytes   int // of the arguments of each call
		expires bool
		most    int
		want    error
	}{
		"many":            {2, false, maxAsked, errAskedTooMuch},
		"large ones":      {large, false, maxAskedBytes / large, errAskedTooMuch},
		"nobody is there": {2, true, maxUnanswered, bridge.ErrNobodyToAsk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all approvals
			request := bridge.ApprovalRequest{Tool: "mail__send", Arguments: vault.FromModel(strings.Repeat("x", tc.bytes))}
			for n := range tc.most {
				p, err := all.ask(request, time.Minute)
				if err != nil {
					t.Fatalf("call %d: %v", n+1, err)
				}
				all.forget(p, tc.expires)
			}
			if _, err := all.ask(request, time.Minute); !errors.Is(err, tc.want) {
				t.Errorf("one more call: %v, want %v", err, tc.want)
			}
		})
	}
}
