package enrich

import "testing"

// TestBuiltInLists reads the lists, of which no two lines may contradict each other, and says how many facts there are.
func TestBuiltInLists(t *testing.T) {
	o := Default()
	r, err := o.Read()
	if err != nil {
		t.Fatal(err)
	}
	places := len(r.sources.apps)
	for _, p := range r.sources.hosts {
		if p.source != nil {
			places++
		}
		places += len(p.paths)
	}
	got := [...]int{len(r.sources.names), places, len(r.params.names), len(r.params.networks), len(r.channels.rules)}
	if want := [...]int{0, 0, 0, 0, 0}; got != want {
		t.Errorf("there are %d sources with %d places, %d parameters, %d networks and %d rules; the test knows of %d", got[0], got[1], got[2], got[3], got[4], want)
	}
}
