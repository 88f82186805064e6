package conformance

import (
	"maps"
	"slices"
	"testing"
)

// Features holds tests of rows of the feature matrix, docs/conformance.md, by the row's id. Their cases are written for this
// repository, so that they prove the row where the conformance data is missing, too. A package calls the type features:
// internal/dev/conformance/matrix finds the ids by that name.
type Features map[string]func(t *testing.T)

// RunFeatures runs them; each is a subtest that internal/dev/conformance/matrix knows by its id.
func RunFeatures(t *testing.T, all ...Features) {
	t.Helper()
	for _, rows := range all {
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			t.Run(id, rows[id])
		}
	}
}
