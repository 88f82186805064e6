package testproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// Java returns the path of a command java of version least or newer, that of JAVA_HOME where it is set.
func Java(least int) (string, error) {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	java, err := exec.LookPath(java)
	if err != nil {
		return "", fmt.Errorf("no Java: install a JDK or JRE of version %d or newer, or set JAVA_HOME: %w", least, err)
	}
	out, err := exec.Command(java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -version: %w\n%s", java, err, out)
	}
	m := javaVersion.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s -version names no version:\n%s", java, out)
	}
	if v, err := strconv.Atoi(string(m[1])); err != nil || v < least {
		return "", fmt.Errorf("%s is Java %s, and %d or newer is needed", java, m[1], least)
	}
	return java, nil
}

// Maven is [Cached] with a folder that Maven fills: goals returns what it is asked to do, and may write files for that.
func Maven(name, path string, goals func(dir string) ([]string, error)) (string, error) {
	return Cached(name, path, func(dir string) error {
		mvn, err := exec.LookPath("mvn")
		if err != nil {
			return fmt.Errorf("no Maven to fetch %s with: install maven: %w", name, err)
		}
		args, err := goals(dir)
		if err != nil {
			return err
		}
		// Maven's local repository does not stand two of them filling it.
		unlock, err := lockFile(filepath.Join(filepath.Dir(dir), "maven.lock"))
		if err != nil {
			return err
		}
		defer unlock()
		return Install(dir, nil, mvn, append([]string{"-q", "-B"}, args...)...)
	})
}
