package runs

import "testing"

// TestHot compares with a list of what was added: nothing else is ever there, and what is asked for stays.
func TestHot(t *testing.T) {
	known, others := randomKeys(1, 4000), randomKeys(2, 4000)
	h := newHot(1000 * 16)
	asked := numberOf(&known[0])
	h.add(asked)
	for i := range known {
		h.add(numberOf(&known[i]))
		if !h.has(numberOf(&known[i])) {
			t.Fatal("the last key is not there")
		}
		if !h.has(asked) {
			t.Fatal("a key that is asked for again and again is gone")
		}
		if h.has(numberOf(&others[i])) {
			t.Fatal("a key is there that was never added")
		}
	}
	there := 0
	for i := range known {
		if h.has(numberOf(&known[i])) {
			there++
		}
	}
	// Each set has four places, and most are full.
	if there > 1000 || there < 900 {
		t.Errorf("%d keys are there, in a thousand places", there)
	}
	if h.has(number{}) {
		t.Error("the empty key is there, and was never added")
	}
	h.add(number{})
	if h.has(number{}) {
		t.Error("the empty key cannot be told from an empty place, and is there")
	}
}
