package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestPlot compares the plot of docs/performance.md with the results it is of; UPDATE_DOCS=1 draws it anew.
func TestPlot(t *testing.T) {
	text, err := os.ReadFile("../results/dedupe.json")
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	drawn, published := filepath.Join(t.TempDir(), plotName), filepath.Join("../../docs/performance", plotName)
	if os.Getenv("UPDATE_DOCS") != "" {
		drawn = published
	}
	if err := r.draw(drawn); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile(drawn); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not of benchmarks/results/dedupe.json (%v)", published, err)
	}
}
