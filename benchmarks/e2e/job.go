package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/internal/dev/machine"
)

// fileJob is the kind of a job that reads files.
const fileJob = "file"

// job is what a system is asked to do.
type job struct {
	Kind    string // fileJob, or the name of a broker
	In      string // folder with the files
	Brokers string
	Topic   string
	Group   string
	Rows    int64
	Codec   string // "none", "snappy" or "zstd"
	Out     string // folder for the Parquet files, which is not there yet
	Profile string // file for a CPU profile, none if empty
}

// args are the command line of a job, see parseJob.
func (j job) args() []string {
	return []string{
		"-kind", j.Kind, "-in", j.In, "-brokers", j.Brokers, "-topic", j.Topic, "-group", j.Group,
		"-rows", strconv.FormatInt(j.Rows, 10), "-codec", j.Codec, "-out", j.Out, "-profile", j.Profile,
	}
}

func parseJob(args []string) (job, error) {
	var j job
	flags := flag.NewFlagSet("job", flag.ContinueOnError)
	flags.StringVar(&j.Kind, "kind", "", "")
	flags.StringVar(&j.In, "in", "", "")
	flags.StringVar(&j.Brokers, "brokers", "", "")
	flags.StringVar(&j.Topic, "topic", "", "")
	flags.StringVar(&j.Group, "group", "", "")
	flags.Int64Var(&j.Rows, "rows", 0, "")
	flags.StringVar(&j.Codec, "codec", "", "")
	flags.StringVar(&j.Out, "out", "", "")
	flags.StringVar(&j.Profile, "profile", "", "")
	return j, flags.Parse(args)
}

// outcome is what a system says of a job, on a line of its standard output.
type outcome struct {
	Rows    int64   `json:"rows"`
	Seconds float64 `json:"seconds"` // from the first record, or the start of the query, to the files on disk
	CPU     float64 `json:"cpu"`     // seconds, of all threads of the process, during the job
	RSS     float64 `json:"rss"`     // MB (10^6 bytes), the most that was resident at any time
	Version string  `json:"version"`
	broker  float64 // seconds of the CPU of the brokers meanwhile
}

// jobChild runs a job in this process and prints its outcome. do tells the time of the first record by calling first,
// which may be called again.
func jobChild(args []string, do func(j job, first func()) (rows int64, version string, err error)) error {
	j, err := parseJob(args)
	if err != nil {
		return err
	}
	if j.Profile != "" {
		f, err := os.Create(j.Profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() {
			pprof.StopCPUProfile()
			_ = f.Close()
		}()
	}
	cpu, began := cputime.Used(), time.Time{}
	first := func() {
		if began.IsZero() {
			began = time.Now()
		}
	}
	rows, version, err := do(j, first)
	if err != nil {
		return err
	}
	o := outcome{Rows: rows, Seconds: time.Since(began).Seconds(), CPU: (cputime.Used() - cpu).Seconds(), Version: version}
	if o.RSS, err = peakRSS(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}

// peakRSS returns the largest resident memory of the process so far in MB. That of getrusage would do as well, if it
// did not begin with what the parent had.
func peakRSS() (float64, error) {
	if peak := machine.PeakMemory(os.Getpid()); peak > 0 {
		return float64(peak) / 1e6, nil
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	if runtime.GOOS == "darwin" {
		return float64(usage.Maxrss) / 1e6, nil
	}
	return float64(usage.Maxrss) * 1024 / 1e6, nil
}

// inputs returns the files of a folder.
func inputs(folder string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no input in %s", folder)
	}
	return names, err
}
