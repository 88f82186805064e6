package doctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// metrics is how many Telegraf reads at once.
const metrics = 20_000

// metric returns a metric, and what becomes of it.
func metric(i int) (in, want string) {
	end := fmt.Sprintf(" %d000000000", 1700000000+i) // Telegraf rounds to seconds
	id := fmt.Sprintf(",id=%di", i)
	switch i % 10 {
	case 0:
		in = `other,dc=a url="https://a.com/"` + id // namepass leaves it alone
		return in + end, in + end
	case 1:
		in = `nginx_access,dc=a link="https://a.com/"` + id // it has no URL
		return in + end, in + end
	case 2:
		in = `nginx_access,dc=a url="https://1.2.3.300/"` + id
		return in + end, in + `,url_error="IPv4-out-of-range-part"` + end
	case 3:
		in = `nginx_access,dc=a url=""` + id
		return in + end, in + `,url_error="missing-scheme-non-relative-URL"` + end
	case 4:
		in = `nginx_access,url=ftp://b\,\ c@h` + strconv.Itoa(i) + `.de/ ok=true` + id
		return in + end, in + `,url_scheme="ftp",url_host="h` + strconv.Itoa(i) + `.de",url_registrable_domain="h` + strconv.Itoa(i) + `.de",url_path="/"` + end
	case 5:
		agent := `,agent="a \"b\" c\\d, e=f` + "\n" + `g"` // a line end within a string
		in = `nginx_access,dc=a\ b,e\=f=g\,h url="https://q.example/?a=\"b\"\\c",ms=0.25` + agent + id
		return in + end, in + `,url_scheme="https",url_host="q.example",url_registrable_domain="q.example",url_path="/",url_query="a=%22b%22\\c"` + end
	case 6:
		if i%1000 == 6 { // longer than any buffer, and than a pipe
			path := "/" + strings.Repeat("p", 150_000)
			in = `nginx_access url="https://long.example` + path + `"` + id
			return in + end, in + `,url_scheme="https",url_host="long.example",url_registrable_domain="long.example",url_path="` + path + `"` + end
		}
	}
	host := "www" + strconv.Itoa(i) + ".example.co.uk"
	in = `nginx_access,dc=a url="https://` + host + `:8443/p?q=1#f"` + id
	return in + end, in + `,url_scheme="https",url_host="` + host + `",url_port=8443i,url_registrable_domain="example.co.uk",url_path="/p",url_query="q=1",url_fragment="f"` + end
}

// telegraf writes a configuration with the page's block in it into a folder, and returns the command that runs it, with
// urlmill wrapped in a script.
func telegraf(t *testing.T, dir, script string, args ...string) *exec.Cmd {
	t.Helper()
	program := hostProgram(t, "telegraf")
	config := `[agent]
  interval = "1s"
  flush_interval = "1s"
  metric_buffer_limit = 1000000
  omit_hostname = true
[[inputs.file]]
  files = ["in.influx"]
  data_format = "influx"
[[outputs.file]]
  files = ["out.influx"]
  data_format = "influx"
` + fenced(t, "telegraf.md", "toml")
	write(t, filepath.Join(dir, "telegraf.conf"), config, 0o600)
	cmd := exec.CommandContext(t.Context(), program, append([]string{"--config", "telegraf.conf"}, args...)...)
	cmd.Dir = dir
	cmd.Env = wrap(t, dir, script)
	return cmd
}

// TestTelegrafItself runs the page's configuration in Telegraf over thousands of metrics, twice in a row: as many come out,
// with their fields, and urlmill ends with 0.
func TestTelegrafItself(t *testing.T) {
	var in strings.Builder
	var want []string
	for i := range metrics {
		given, metric := metric(i)
		in.WriteString(given + "\n")
		want = append(want, metric)
	}
	slices.Sort(want)
	for _, procs := range []string{"1", "2"} { // with one, it reads late
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.influx"), in.String(), 0o600)
		cmd := telegraf(t, dir, "URLMILL \"$@\"\necho $? >> ended\n", "--once")
		cmd.Env = append(cmd.Env, "GOMAXPROCS="+procs)
		said, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(said), `stderr: "`) {
			t.Fatalf("%v\n%s", err, said)
		}
		if code := read(t, filepath.Join(dir, "ended")); code != "0\n" {
			t.Errorf("urlmill has ended with %q", code)
		}
		// The line ends within strings are those before g".
		text := strings.ReplaceAll(read(t, filepath.Join(dir, "out.influx")), "\ng\"", "\x00g\"")
		got := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "\x00", "\n")
		}
		slices.Sort(got)
		if len(got) != len(want) {
			t.Errorf("%d metrics of %d\n%s", len(got), len(want), said)
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("got  %s\nwant %s", brief(got[i]), brief(want[i]))
			}
		}
	}
}

// TestTelegrafRestarts kills urlmill under Telegraf, which has to start it again and to end when it is told to.
func TestTelegrafRestarts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.influx"), "nginx_access url=\"https://a.com/\"\n", 0o600)
	cmd := telegraf(t, dir, notePID(dir))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until := func(what string, done func() bool) {
		t.Helper()
		for limit := time.Now().Add(3 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
			select {
			case err := <-ended:
				t.Fatalf("Telegraf has ended: %v\n%s", err, read(t, log.Name()))
			default:
			}
			if time.Now().After(limit) {
				t.Fatalf("%s\n%s", what, read(t, log.Name()))
			}
		}
	}
	rows := func() int { return strings.Count(read(t, filepath.Join(dir, "out.influx")), `url_host="a.com"`) }
	until("no metric comes out", func() bool { return rows() > 0 })
	kill(t, pids(t, dir)[0])
	until("urlmill is not started again", func() bool { return len(pids(t, dir)) == 2 })
	before := rows()
	until("no metric comes out of the second urlmill", func() bool { return rows() > before })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, read(t, log.Name()))
	}
}

// brief returns both ends of a text.
func brief(text string) string {
	if len(text) < 1000 {
		return text
	}
	return fmt.Sprintf("%s…%s (%d bytes)", text[:500], text[len(text)-500:], len(text))
}
