package agents

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ua-parser/uap-go/uaparser"
	"go.yaml.in/yaml/v3"
)

// userAgents returns the list of rules that the package uap-go has of uap-core, as lines.
func userAgents(t *testing.T) string {
	var rules struct {
		UA, OS, Device []map[string]string
	}
	var groups map[string][]map[string]string
	if err := yaml.Unmarshal(uaparser.DefinitionYaml, &groups); err != nil {
		t.Fatal(err)
	}
	rules.UA, rules.OS, rules.Device = groups["user_agent_parsers"], groups["os_parsers"], groups["device_parsers"]
	out := new(strings.Builder)
	out.WriteString(`# Rules of uap-core (https://github.com/ua-parser/uap-core, Apache-2.0: LICENSE-uap-core), as uap-go has them: group, regular expression,
# and what it says, $1 for a group of the expression: of browser and os name and the parts of the version, of device name, brand and
# model. The first line of a group that matches counts. Made anew by UPDATE_LISTS=1 go test -run TestUserAgents ./pipeline/enrich/agents
`)
	write := func(group string, rules []map[string]string, keys, defaults []string) {
		for _, r := range rules {
			expr := r["regex"]
			if flag := r["regex_flag"]; flag != "" {
				expr = "(?" + flag + ")" + expr
			}
			fmt.Fprintf(out, "%s\t%s", group, expr)
			for i, key := range keys {
				value := r[key]
				if value == "" {
					value = defaults[i]
				}
				out.WriteString("\t" + value)
			}
			out.WriteString("\n")
		}
	}
	write("browser", rules.UA, []string{"family_replacement", "v1_replacement", "v2_replacement", "v3_replacement"}, []string{"$1", "$2", "$3", "$4"})
	write("os", rules.OS, []string{"os_replacement", "os_v1_replacement", "os_v2_replacement", "os_v3_replacement", "os_v4_replacement"}, []string{"$1", "$2", "$3", "$4", "$5"})
	write("device", rules.Device, []string{"device_replacement", "brand_replacement", "model_replacement"}, []string{"$1", "", "$1"})
	return out.String()
}

// TestUserAgents compares the list with the one that uap-go has.
func TestUserAgents(t *testing.T) {
	want := userAgents(t)
	if os.Getenv("UPDATE_LISTS") != "" {
		if err := os.WriteFile("lists/useragents.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if userAgentList != want {
		t.Error("lists/useragents.txt is not what uap-go has; UPDATE_LISTS=1 makes it anew")
	}
}

// TestLists checks that every expression compiles, that no bot stands twice, and says how many there are.
func TestLists(t *testing.T) {
	r := Default()
	seen := map[string]bool{}
	for i := range r.rules {
		it := &r.rules[i]
		it.re()
		if i >= r.starts[bots] && seen[it.expr] {
			t.Errorf("bot %q stands twice", it.expr)
		}
		seen[it.expr] = i >= r.starts[bots]
	}
	always := 0
	for i := range r.rules {
		if r.filter.always[i/64]>>(i%64)&1 != 0 {
			always++
			t.Logf("runs always: %s", r.rules[i].expr)
		}
	}
	t.Logf("%v rules, %d run always; %d states, %d with hits, %d classes", r.starts, always, len(r.filter.next)/int(r.filter.classes), len(r.filter.hits), r.filter.classes)
}
