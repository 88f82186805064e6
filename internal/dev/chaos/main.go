package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/dbtest"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
)

// env is what all scenarios share.
type env struct {
	quick   bool
	dir     string
	binary  string // urlmill
	faulty  string // a test build of it whose file system can be told to fail
	cluster *kafkatest.Cluster
	began   time.Time
	seed    uint64
	ctx     context.Context // done when somebody interrupts it: everything is then cleaned up as ever
	kept    bool            // the directories of scenarios
	// duckcount has DuckDB read outputs, python produces by librdkafka.
	duckcount, python string
}

// output is a directory of files that other readers are to read.
type output struct {
	Dir  string `json:"dir"`
	Rows int64  `json:"rows"`
}

func (e *env) logf(format string, args ...any) {
	fmt.Printf("%6.1fs  %s\n", time.Since(e.began).Seconds(), strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}

// random returns what somebody of this name chooses by, the same for the same seed.
func (e *env) random(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(e.seed, h.Sum64()))
}

// pick returns what the form that is run asks for.
func pick[T any](r *run, long, quick T) T {
	if r.env.quick {
		return quick
	}
	return long
}

// scenario is something that is done to urlmill.
type scenario struct {
	name string
	what string // for the report
	run  func(*run)
}

// scenarios are all, in the order in which they are run.
var scenarios = []scenario{
	{"kill", "the process is killed by SIGKILL, two times of three while it commits, else at any moment", killAtRandom},
	{"every-step", "the process is killed before its n-th call to the file system, for every n until it makes no more", killAtEveryStep},
	{"zombie", "the process is stopped past its session timeout, a successor commits, and it is woken up", zombies},
	{"storm", "three members of the group join, leave and are killed at random", storm},
	{"broker", "the only broker is killed or shut down, and started again", brokerRestarts},
	{"leaders", "leaders of partitions are moved in a cluster of three brokers, and brokers are killed in it", leaders},
	{"network", "connections to the broker are broken, refused, silent, slow, and change bytes", network},
	{"store", "calls to the file system fail: full, read-only, broken; for some calls or for good", storeErrors},
	{"disk", "a file system is full, or read-only", fullDisk},
	{"bucket", "requests to a real S3 server fail, its answers are lost, it is restarted, and the process is killed", objectStore},
	{"gcs", "the same with fake-gcs-server as Google Cloud Storage", googleStorage},
	{"azure", "the same with Azurite as Azure Blob Storage", azureStorage},
	{"objects", "two processes read the objects of a bucket that appear in no order and are replaced and removed, while requests fail, listings lag, the server is restarted, both are killed, and one sleeps while a third one does its work", objectSource},
	{"transactions", "a producer aborts every other transaction, with a kill now and then", transactions},
	{"compacted", "the broker compacts what was not read yet, with kills", compacted},
	{"partitions", "partitions are added to the topic that is read, with kills", partitionsAdded},
	{"retention", "the broker deletes records that were not read yet; told to, the process leaves them out", retention},
	{"dedupe", "the process drops duplicates, exactly and approximately, and is killed at every step of a commit", dropDuplicates},
	{"librdkafka", "librdkafka produces, idempotent and in transactions, with all compressions in one partition, with kills", librdkafka},
	{"latest", "a process that began at the end is stopped while partitions are added, with kills", addedWhileDown},
	{"overtaken", "the broker deletes what a running process that cannot reach it has not read; told to, it leaves it out", overtaken},
	{"anew", "the topic is deleted and made anew; told to, the process reads the new one", madeAnew},
	{"late", "sorted files by date, with rows that come late, and kills", lateRows},
	{"expired", "directories of old dates are moved away while rows for them come, and members are killed behind a record", expired},
	{"compaction", "files are merged beside writers, both of which are killed", compaction},
	{"iceberg", "files are registered in an Iceberg table, with kills, and processes that sleep between record and names", icebergTable},
	{"kept", "an Iceberg table is compacted and its snapshots removed beside a writer, and both are killed", keptTable},
	{"restored", "the output is put back from a copy; told to, the process reads again what is missing, also where it drops duplicates", restored},
	{"state", "the file system of a state of duplicates is full, with kills", fullState},
	{"postgres", "PostgreSQL is killed while rows are loaded into it, and so is who loads them", postgresLoads},
	{"bare", "a file system without exclusive renames, and one without links; kills before every call, compactions by another machine", bareFileSystem},
	{"corrupt", "batches are spoiled on the broker's disk; told to, the process makes a dead letter of each", corrupted},
}

const (
	envSeed   = "URLMILL_SEED"         // a number that makes a run repeatable, as far as processes and clocks allow
	envPython = "URLMILL_CHAOS_PYTHON" // a Python with confluent-kafka
)

func main() {
	quick := flag.Bool("quick", false, "the short form")
	only := flag.String("only", "", "names of scenarios, with commas between them; default all")
	report := flag.String("report", "", "file to write the report into, between its markers")
	parallel := flag.Int("parallel", 2, "scenarios at a time; most of the time they wait")
	keep := flag.String("dir", "", "directory to work in, which is kept; default one that is removed")
	flag.Parse()
	for _, what := range []string{kafkatest.EnvRequire, s3test.EnvRequire, dbtest.EnvRequirePostgres} {
		_ = os.Setenv(what, "1") // what cannot be had is an error here; the name is right
	}
	e := &env{quick: *quick, dir: *keep, kept: *keep != "", began: time.Now(), seed: uint64(time.Now().UnixNano()), python: os.Getenv(envPython)}
	if text := os.Getenv(envSeed); text != "" {
		var err error
		if e.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			fmt.Fprintf(os.Stderr, "chaos: %s=%s is no number\n", envSeed, text)
			os.Exit(2)
		}
	}
	e.logf("%s=%d", envSeed, e.seed)
	var done context.CancelFunc
	e.ctx, done = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer done()
	ok, err := e.main(*only, *report, max(1, *parallel))
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// all runs the scenarios that are asked for, some at a time, and returns what came of them, in their order. Scenarios that run side
// by side have brokers of their own, since some of them kill them.
func (e *env) all(only string, parallel int) (outcomes []outcome) {
	var (
		mu    sync.Mutex
		next  int
		done  = make([]*outcome, len(scenarios))
		works sync.WaitGroup
	)
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		for ; next < len(scenarios) && e.ctx.Err() == nil; next++ {
			if only == "" || strings.Contains(","+only+",", ","+scenarios[next].name+",") {
				next++
				return next - 1, true
			}
		}
		return 0, false
	}
	for n := range parallel {
		works.Go(func() {
			own := *e
			setup := execute(&own, fmt.Sprint("cluster-", n), func(r *run) {
				for i, ok := take(); ok; i, ok = take() {
					if own.cluster == nil {
						own.cluster = kafkatest.Start(r, kafkatest.Options{Proxy: true, Heap: "1g"})
						e.logf("Apache Kafka %s is there", kafkatest.Version())
					}
					s := scenarios[i]
					e.logf("%s: %s", s.name, s.what)
					o := execute(&own, s.name, s.run)
					e.logf("%s: %s in %s\n", s.name, verdict(o), o.Took.Round(time.Second))
					done[i] = &o
				}
			})
			if setup.Name = "Apache Kafka"; len(setup.Errors) > 0 {
				mu.Lock()
				defer mu.Unlock()
				outcomes = append(outcomes, setup)
			}
		})
	}
	works.Wait()
	for _, o := range done {
		if o != nil {
			outcomes = append(outcomes, *o)
		}
	}
	return outcomes
}

// main runs the scenarios and returns whether everything was as it has to be.
func (e *env) main(only, report string, parallel int) (ok bool, err error) {
	if e.dir == "" {
		if e.dir, err = os.MkdirTemp("", "urlmill-chaos-"); err != nil {
			return false, err
		}
		defer os.RemoveAll(e.dir)
	}
	if err := e.build(); err != nil {
		return false, err
	}
	outcomes := e.all(only, parallel)
	t := add(outcomes)
	e.print(outcomes, t)
	if report != "" && t.ok {
		err = e.writeReport(report, outcomes, t)
	}
	fmt.Println(t.line())
	return t.ok, err
}

// build builds the binary, its faulty twin, and the other reader.
func (e *env) build() error {
	root, err := goOutput("list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	e.binary, e.faulty = filepath.Join(e.dir, "urlmill"), filepath.Join(e.dir, "urlmill-faulty")
	e.duckcount = filepath.Join(e.dir, "duckcount")
	for _, args := range [][]string{
		{"build", "-C", filepath.Join(root, "internal", "dev", "itest"), "-o", e.duckcount, "./duckcount"},
		{"build", "-C", root, "-o", e.binary, "./cmd/urlmill"},
		{"test", "-C", root, "-c", "-o", e.faulty, "./cmd/urlmill"},
	} {
		if _, err := goOutput(args...); err != nil {
			return err
		}
	}
	e.logf("built %s", filepath.Base(e.binary))
	return nil
}

func goOutput(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
