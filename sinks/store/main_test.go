package store_test

import (
	"testing"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
