package urlcopy_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/urlmill/urlmill/internal/urlcopy"
)

func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), urlcopy.Analyzer, "a")
}
