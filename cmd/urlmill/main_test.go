package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"urlmill":        func() { os.Exit(mainCode()) },
		"urlmill-faulty": func() { os.Exit(faultyCode()) },
	})
}

// TestScripts runs the scripts of testdata/script. They call urlmill as a process of its own. With UPDATE_SCRIPTS=1
// the files that they compare with are written anew, to be looked at.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") == "1",
	})
}
