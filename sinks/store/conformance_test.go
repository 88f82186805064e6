package store_test

import (
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Run("disk", func(t *testing.T) {
		storetest.Conformance(t, func(*testing.T) func() store.Store {
			disk := storetest.NewDisk()
			return func() store.Store { return store.NewLocal("/", disk.Process(), quiet) }
		})
	})
	for name, sys := range map[string]store.FS{"system": store.System, "without links": withoutLinks()} {
		t.Run(name, func(t *testing.T) {
			storetest.Conformance(t, func(t *testing.T) func() store.Store {
				root := t.TempDir()
				return func() store.Store { return store.NewLocal(root, sys, quiet) }
			})
		})
	}
}
