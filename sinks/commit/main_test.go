package commit

import (
	"testing"

	"github.com/urlmill/urlmill/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
