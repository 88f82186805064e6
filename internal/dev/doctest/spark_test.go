package doctest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// sparkVersion is one that Maven Central has all modules of that the connector needs.
const sparkVersion = "4.2.0"

const sparkPom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>io.github.urlmill</groupId><artifactId>stream</artifactId><version>1</version><packaging>pom</packaging><dependencies>
<dependency><groupId>org.apache.spark</groupId><artifactId>spark-sql_2.13</artifactId><version>%[1]s</version></dependency>
<dependency><groupId>org.apache.spark</groupId><artifactId>spark-sql-kafka-0-10_2.13</artifactId><version>%[1]s</version></dependency>
</dependencies><build><plugins><plugin><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version></plugin></plugins></build></project>`

// sparkJob is a program of Java. What is left out is the page's job.
const sparkJob = `import org.apache.spark.sql.*;
import org.apache.spark.sql.streaming.*;

public class Job {
  public static void main(String[] args) throws Exception {
%s
    for (Row row : spark.read().parquet("parsed").collectAsList()) {
      System.out.println(row.json());
    }
  }
}
`

// clickRow is a row of the page's output.
type clickRow struct {
	User                    *int
	Page, Site, Path, Error *string
}

func (r clickRow) String() string {
	text, _ := json.Marshal(r)
	return string(text)
}

// TestSparkStream runs the page's stream from Kafka to Parquet with the jar and an Apache Kafka, kills it twice in the middle of a batch, and starts
// it again: every record is there once, with its values.
func TestSparkStream(t *testing.T) {
	jars := os.Getenv("URLMILL_SPARK_JARS")
	if jars == "" {
		testproc.Missing(t, "URLMILL_REQUIRE_SPARK", "URLMILL_SPARK_JARS names no folder of jars: make plugins-spark does")
	}
	cluster := kafkatest.Start(t, kafkatest.Options{})
	cluster.CreateTopic(t, "clicks", 4)
	java := sparkJava(t, filepath.Join(jars, "urlmill-spark_2.13.jar"))
	dir := t.TempDir()
	job := fmt.Sprintf(sparkJob, strings.ReplaceAll(sparkStreamPage(t), "localhost:9092", cluster.Addr()))
	if err := os.WriteFile(filepath.Join(dir, "Job.java"), []byte(job), 0o644); err != nil {
		t.Fatal(err)
	}

	const half = 2500
	records, want := clicks(2 * half)
	cluster.Produce(t, records[:half])
	last := -1
	for _, written := range []bool{false, true} {
		last = killSparkWithin(t, dir, java, last+3, written)
	}
	cluster.Produce(t, records[half:])
	cmd := exec.CommandContext(t.Context(), java[0], java[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, said.Bytes(), job)
	}
	var got []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var row clickRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		got = append(got, row.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d rows of %d records; the first that differ: %s", len(got), len(want), firstApart(got, want))
	}
	if batches := lastBatch(filepath.Join(dir, "checkpoint", "commits")); batches < 2*half/sparkBatch-1 {
		t.Errorf("%d batches", batches+1)
	}
	says(t, sparkPage, "run in the tests with Spark "+sparkVersion+" and Apache Kafka "+kafkatest.Version())
}

// clicks returns records of the topic clicks and the rows that become of them.
func clicks(n int) (records []*kgo.Record, want []string) {
	text := func(s string) *string { return &s }
	for i := range n {
		row, value := clickRow{User: &i}, []byte(nil)
		switch i % 10 {
		case 0: // no value
			row = clickRow{}
		case 1:
			row, value = clickRow{}, []byte("no JSON")
		case 2:
			value = fmt.Appendf(nil, `{"user":%d,"page":null}`, i)
		case 3:
			row.Page, row.Error = text("no url"), text("missing-scheme-non-relative-URL")
		case 4:
			row.Page, row.Error = text("https://1.2.3.300/"), text("IPv4-out-of-range-part")
		default:
			row.Page, row.Site, row.Path = text(fmt.Sprintf("https://www.h%d.co.uk/a/../%d?q=%s", i%97, i, strings.Repeat("x", i%300))), text(fmt.Sprintf("h%d.co.uk", i%97)), text("/"+strconv.Itoa(i))
		}
		if row.Page != nil {
			value = fmt.Appendf(nil, `{"user":%d,"page":%q}`, i, *row.Page)
		}
		records = append(records, &kgo.Record{Topic: "clicks", Partition: int32(i % 4), Value: value})
		want = append(want, row.String())
	}
	return records, want
}

// sparkBatch is how many records a batch has.
const sparkBatch = 200

// sparkStreamPage returns the two blocks of Python below "In a stream", the second in the place of the first one's source, as Java.
func sparkStreamPage(t *testing.T) string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, filepath.Join(root, sparkPage)), "### In a stream\n")
	section, _, _ = strings.Cut(section, "\n### ")
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of Python", len(blocks))
	}
	files := regexp.MustCompile(`(?m)^clicks = .*\.json\("clicks"\)\n`)
	if !files.MatchString(blocks[0][1]) {
		t.Fatalf("no clicks from files in %s", blocks[0][1])
	}
	python := files.ReplaceAllLiteralString(blocks[0][1], blocks[1][1])
	python = strings.NewReplacer("readStream.", "readStream().", "writeStream.", "writeStream().", "builder.", "builder().", "availableNow=True", "Trigger.AvailableNow()",
		`"maxOffsetsPerTrigger", 1000000`, fmt.Sprintf(`"maxOffsetsPerTrigger", %d`, sparkBatch)).Replace(python)
	var java strings.Builder
	for line := range strings.Lines(python) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "from ") {
			continue
		}
		if name, _, ok := strings.Cut(line, " = "); ok && !strings.Contains(java.String(), "var "+name+" ") {
			line = "var " + line
		}
		java.WriteString("    " + line + ";\n")
	}
	return java.String()
}

// sparkJava returns the command that runs Job.java with Spark, its connector and the jar.
func sparkJava(t *testing.T, jar string) []string {
	t.Helper()
	opens := regexp.MustCompile(`<urlmill.opens>(.*)</urlmill.opens>`).FindStringSubmatch(read(t, filepath.Join(root, "plugins", "jvm", "pom.xml")))
	if opens == nil {
		t.Fatal("plugins/jvm/pom.xml does not say what Spark opens")
	}
	java, err := testproc.Java(17)
	if err != nil {
		t.Fatal(err)
	}
	libs, err := testproc.Maven("spark-kafka-"+sparkVersion, "libs", func(dir string) ([]string, error) {
		file := filepath.Join(dir, "pom.xml")
		return []string{"-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + filepath.Join(dir, "libs")},
			os.WriteFile(file, fmt.Appendf(nil, sparkPom, sparkVersion), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	command := append([]string{java, "-Xmx1g"}, strings.Fields(opens[1])...)
	for _, setting := range []string{
		"master=local[2]", "sql.extensions=io.github.urlmill.spark.UrlmillExtensions", "ui.enabled=false", "driver.bindAddress=127.0.0.1", "driver.host=127.0.0.1",
	} {
		command = append(command, "-Dspark."+setting)
	}
	return append(command, "-cp", jar+":"+libs+"/*", "Job.java")
}

// killSparkWithin starts a job in a folder, kills it when a batch is planned and not committed whose number is least or more, and returns that. With
// written the batch has files among the output's already.
func killSparkWithin(t *testing.T, dir string, java []string, least int, written bool) int {
	t.Helper()
	process, err := testproc.StartIn(dir, exec.Command(java[0], java[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	defer process.Kill()
	files, of := 0, -1 // that the output had when batch of was first seen
	for begin := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		planned, committed := lastBatch(filepath.Join(dir, "checkpoint", "offsets")), lastBatch(filepath.Join(dir, "checkpoint", "commits"))
		parts, _ := filepath.Glob(filepath.Join(dir, "parsed", "*.parquet"))
		if planned != of {
			files, of = len(parts), planned
		}
		if planned >= least && committed < planned && (!written || len(parts) > files) {
			process.Kill()
			if committed = lastBatch(filepath.Join(dir, "checkpoint", "commits")); committed >= planned { // meanwhile
				return killSparkWithin(t, dir, java, planned+1, written)
			}
			t.Logf("killed in batch %d, which had made %d files; the last one committed is %d", planned, len(parts)-files, committed)
			return planned
		}
		if process.Ended() || time.Since(begin) > 10*time.Minute {
			log, _ := os.ReadFile(testproc.LogOf(dir))
			t.Fatalf("batch %d of %d, and it has ended: %v\n%s", planned, least, process.Ended(), log)
		}
	}
}

// lastBatch returns the highest number of a file in a folder, -1 if there is none.
func lastBatch(dir string) int {
	last := -1
	entries, _ := os.ReadDir(dir) // may not be there yet
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// firstApart returns what two sorted lists have at the first place where they differ.
func firstApart(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return got[i] + ", want " + want[i]
		}
	}
	return "one has more"
}
