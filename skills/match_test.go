package skills

import "testing"

func TestMatch(t *testing.T) {
	t.Parallel()
	s := testStore(t)
	found, err := s.Match("user", tokenized(t, "Analyze the latest sales data and create a summary report"))
	if err != nil || len(found) == 0 || found[0].ID != "library/sales-summary" || found[0].Confidence < Confident {
		t.Errorf("found %v, %v", found, err)
	}
}
