package kafkatest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/urlmill/urlmill/internal/testproc"
)

// EnvRequire, set to "1", turns a real broker that cannot be had from a skipped test into a failed one.
const EnvRequire = "URLMILL_REQUIRE_KAFKA"

const (
	minJava        = 17 // Apache Kafka 4 brokers run on nothing older
	installTimeout = 8 * time.Minute
)

//go:embed pom.xml
var pom []byte

var (
	pomVersion  = regexp.MustCompile(`<kafka\.version>([^<]+)</kafka\.version>`)
	javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)
)

// Version is the version of Apache Kafka that [Start] runs.
func Version() string { return string(pomVersion.FindSubmatch(pom)[1]) }

// distribution is what is needed to start a broker.
type distribution struct {
	java string // path of the java command
	libs string // folder of the jar files
}

// install finds Java and fetches the broker's jar files once for all tests of this process.
var install = sync.OnceValues(func() (distribution, error) {
	java, err := findJava()
	if err != nil {
		return distribution{}, err
	}
	libs, err := fetch()
	if err != nil {
		return distribution{}, err
	}
	return distribution{java: java, libs: libs}, nil
})

func findJava() (string, error) {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	java, err := exec.LookPath(java)
	if err != nil {
		return "", fmt.Errorf("no Java: install a JDK or JRE of version %d or newer, or set JAVA_HOME: %w", minJava, err)
	}
	out, err := exec.Command(java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -version: %w\n%s", java, err, out)
	}
	m := javaVersion.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s -version names no version:\n%s", java, out)
	}
	if v, err := strconv.Atoi(string(m[1])); err != nil || v < minJava {
		return "", fmt.Errorf("%s is Java %s: Apache Kafka %s needs %d or newer", java, m[1], Version(), minJava)
	}
	return java, nil
}

// fetch returns the folder that holds the jar files of exactly this pom.xml. That test binaries wait for each other matters:
// Maven's local repository does not stand two of them filling it.
func fetch() (string, error) {
	sum := sha256.Sum256(pom)
	return testproc.Cached("kafka-"+Version()+"-"+hex.EncodeToString(sum[:4]), "libs", func(dir string) error {
		mvn, err := exec.LookPath("mvn")
		if err != nil {
			return fmt.Errorf("no Maven to fetch Apache Kafka %s with: install maven: %w", Version(), err)
		}
		return runMaven(mvn, dir)
	})
}

func runMaven(mvn, dir string) error {
	file := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(file, pom, 0o644); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", file, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(dir, "libs"))
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("no way to fetch Apache Kafka %s: %w\n%s", Version(), errors.Join(ctx.Err(), err), out.Bytes())
	}
	return nil
}
