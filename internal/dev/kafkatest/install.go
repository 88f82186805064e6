package kafkatest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequire, set to "1", turns a real broker that cannot be had from a skipped test into a failed one.
const EnvRequire = "URLMILL_REQUIRE_KAFKA"

const minJava = 17 // Apache Kafka 4 brokers run on nothing older

//go:embed pom.xml
var pom []byte

var pomVersion = regexp.MustCompile(`<kafka\.version>([^<]+)</kafka\.version>`)

// Version is the version of Apache Kafka that [Start] runs.
func Version() string { return string(pomVersion.FindSubmatch(pom)[1]) }

// distribution is what is needed to start a broker.
type distribution struct {
	java string // path of the java command
	libs string // folder of the jar files
}

// install finds Java and fetches the broker's jar files once for all tests of this process.
var install = sync.OnceValues(func() (distribution, error) {
	java, err := testproc.Java(minJava)
	if err != nil {
		return distribution{}, err
	}
	libs, err := fetch()
	if err != nil {
		return distribution{}, fmt.Errorf("no way to fetch Apache Kafka %s: %w", Version(), err)
	}
	return distribution{java: java, libs: libs}, nil
})

// fetch returns the folder that holds the jar files of exactly this pom.xml.
func fetch() (string, error) {
	sum := sha256.Sum256(pom)
	return testproc.Maven("kafka-"+Version()+"-"+hex.EncodeToString(sum[:4]), "libs", func(dir string) ([]string, error) {
		file := filepath.Join(dir, "pom.xml")
		args := []string{"-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + filepath.Join(dir, "libs")}
		return args, os.WriteFile(file, pom, 0o644)
	})
}
