// Package registrytest gives tests a real schema registry to talk to: Apicurio Registry, by the API of Confluent's. An
// imitation that needs nothing but Go is franz-go's pkg/sr/srfake.
//
// It is fetched from Maven Central into the user's cache folder the first time, runs on 127.0.0.1 with a free port and
// everything in memory, and dies with the test binary. It needs Java 17 or newer and Maven; where one of them is missing the
// test is skipped with the reason, or fails if URLMILL_REQUIRE_REGISTRY=1, as it is set in continuous integration.
package registrytest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequire, set to "1", turns a registry that cannot be had from a skipped test into a failed one.
const EnvRequire = "URLMILL_REQUIRE_REGISTRY"

// Env is the URL of a schema registry that runs already, another maker's for example, for tests to use instead. They leave
// subjects there.
const Env = "URLMILL_REGISTRY"

// Version is the version of Apicurio Registry that [Start] runs: Maven Central has no newer one that is ready to run.
const Version = "2.5.11.Final"

const (
	minJava      = 17
	startTimeout = 3 * time.Minute
	stopTimeout  = 2 * time.Minute
	apiPath      = "/apis/ccompat/v7"
)

// distribution is what is needed to start a registry.
type distribution struct{ java, jar string } // paths

// install finds Java and fetches the registry once for all tests of this process.
var install = sync.OnceValues(func() (distribution, error) {
	java, err := testproc.Java(minJava)
	if err != nil {
		return distribution{}, err
	}
	jar, err := testproc.Maven("apicurio-registry-"+Version, "apicurio-registry-app-"+Version+"-runner.jar", func(dir string) ([]string, error) {
		return []string{
			"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack",
			"-Dartifact=io.apicurio:apicurio-registry-app:" + Version + ":tar.gz:all", "-DoutputDirectory=" + dir,
		}, nil
	})
	if err != nil {
		return distribution{}, fmt.Errorf("no way to fetch Apicurio Registry %s: %w", Version, err)
	}
	return distribution{java: java, jar: jar}, nil
})

// Start runs a registry until the test is over, and returns its URL when it takes requests. What it has printed is shown if
// the test fails.
func Start(tb testing.TB) (url string) {
	tb.Helper()
	if url := os.Getenv(Env); url != "" {
		return url
	}
	if os.Getenv(EnvRequire) != "1" && testing.Short() {
		tb.Skip("a real schema registry takes its time: not in -short")
	}
	dist, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no schema registry: %v", err))
	}
	port := strconv.Itoa(testproc.Ports(tb, 1)[0])
	cmd := exec.Command(dist.java, "-Xmx256m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true", "-jar", dist.jar)
	cmd.Env = append(os.Environ(), "QUARKUS_HTTP_HOST=127.0.0.1", "QUARKUS_HTTP_PORT="+port)
	cmd.Dir = tb.TempDir()
	log := new(testproc.Log)
	cmd.Stdout, cmd.Stderr = log, log
	process, err := testproc.Start(cmd)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the schema registry said:\n%s", log)
		}
		if !process.Stop(stopTimeout) {
			tb.Errorf("the schema registry did not stop within %v", stopTimeout)
		}
	})
	server := "http://127.0.0.1:" + port
	if err := process.Await(startTimeout, func() error { return testproc.AnswersOK(server + "/health/ready") }); err != nil {
		tb.Fatalf("Apicurio Registry %s: %v", Version, err)
	}
	return server + apiPath
}
