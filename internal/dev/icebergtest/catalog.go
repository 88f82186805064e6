// Package icebergtest gives tests a real Iceberg REST catalog to talk to: Apache Iceberg's own, which its tests run, with tables known
// in SQLite and files on the disk.
//
// It is fetched from Maven Central into the user's cache folder the first time, runs on 127.0.0.1 with a free port, and dies with
// the test binary. It needs a JDK of version 17 or newer and Maven; where one of them is missing the test is skipped with the reason,
// or fails if URLMILL_REQUIRE_ICEBERG=1, as it is set in continuous integration.
package icebergtest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequire, set to "1", turns a catalog that cannot be had from a skipped test into a failed one.
const EnvRequire = "URLMILL_REQUIRE_ICEBERG"

const (
	minJava      = 17
	startTimeout = 3 * time.Minute
	stopTimeout  = time.Minute
)

//go:embed pom.xml
var pom []byte

//go:embed Catalog.java
var server []byte

// distribution is what is needed to start a catalog: the command java, the jar files, and the source of the server.
type distribution struct{ java, libs, source string }

// install finds Java and fetches the jar files once for all tests of this process.
var install = sync.OnceValues(func() (distribution, error) {
	java, err := testproc.Java(minJava)
	if err != nil {
		return distribution{}, err
	}
	sum := sha256.Sum256(append(pom, server...))
	libs, err := testproc.Maven("iceberg-rest-"+hex.EncodeToString(sum[:4]), "libs", func(dir string) ([]string, error) {
		file := filepath.Join(dir, "pom.xml")
		if err := os.WriteFile(filepath.Join(dir, "Catalog.java"), server, 0o600); err != nil {
			return nil, err
		}
		args := []string{"-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + filepath.Join(dir, "libs")}
		return args, os.WriteFile(file, pom, 0o600)
	})
	if err != nil {
		return distribution{}, fmt.Errorf("no way to fetch Apache Iceberg's REST catalog: %w", err)
	}
	return distribution{java: java, libs: libs, source: filepath.Join(filepath.Dir(libs), "Catalog.java")}, nil
})

// Start runs a catalog until the test is over, and returns its URL when it takes requests. What it has printed is shown if the test
// fails.
func Start(tb testing.TB) (url string) {
	tb.Helper()
	if os.Getenv(EnvRequire) != "1" && testing.Short() {
		tb.Skip("a real catalog takes its time: not in -short")
	}
	dist, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no Iceberg REST catalog: %v", err))
	}
	port, dir := strconv.Itoa(testproc.Ports(tb, 1)[0]), tb.TempDir()
	cmd := exec.Command(dist.java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
		"-cp", filepath.Join(dist.libs, "*"), dist.source, port, dir)
	cmd.Dir = dir
	log := new(testproc.Log)
	cmd.Stdout, cmd.Stderr = log, log
	process, err := testproc.Start(cmd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the catalog said:\n%s", log)
		}
		if !process.Stop(stopTimeout) {
			tb.Errorf("the catalog did not stop within %v", stopTimeout)
		}
	})
	url = "http://127.0.0.1:" + port
	if err := process.Await(startTimeout, func() error { return testproc.AnswersOK(url + "/v1/config") }); err != nil {
		tb.Fatal(err)
	}
	return url
}
