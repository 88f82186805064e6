package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// standardDate is the state of the URL Standard that urlcore implements.
const standardDate = "July 2026"

// release is the version of a release, which the linker sets (-X main.release=1.2.3).
var release string

// buildInfo says what this binary is.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"commit_time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Standard string `json:"url_standard"`
	Unicode  string `json:"unicode"`
	PSL      string `json:"public_suffix_list"`
	// LeftOut names the parts that the binary is built without.
	LeftOut []string `json:"left_out"`
}

// readBuild reads what the linker recorded.
func readBuild() buildInfo {
	b := buildInfo{
		Version: unversioned, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Standard: standardDate, Unicode: urlcore.UnicodeVersion, PSL: psl.Version(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = version()
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version returns the version of a release, or else what the linker recorded.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(release, info.Main.Version, unversioned)
	}
	return unversioned
}

const unversioned = "(devel)"

func newVersion(a *app) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of urlmill, of the standard, of Unicode and of the Public Suffix List",
		Example: "  urlmill version\n  urlmill version --json",
		Args:    args(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			b.LeftOut = a.components.LeftOut()
			if asJSON {
				enc := json.NewEncoder(a.out)
				return enc.Encode(b)
			}
			commit := ""
			if b.Commit != "" {
				commit = fmt.Sprintf(" (commit %.12s, %s", b.Commit, b.Time)
				if b.Modified {
					commit += ", modified"
				}
				commit += ")"
			}
			_, err := fmt.Fprintf(a.out, "urlmill %s%s\n%-20s %s %s\n%-20s %s\n%-20s %s\n%-20s %s\n%-20s %s\n", b.Version, commit,
				"Go", b.Go, b.Platform, "URL Standard", b.Standard, "Unicode", b.Unicode, "Public Suffix List", b.PSL,
				"built without", cmp.Or(strings.Join(b.LeftOut, ", "), "nothing"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}
