package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/urlmill/urlmill/benchmarks/internal/output"
)

// measure runs a program, whose output goes into a file.
func (o options) measure(name, out string, content float64, program string, args ...string) (measure, error) {
	to, err := os.Create(out)
	if err != nil {
		return measure{}, err
	}
	defer to.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = to, os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return measure{}, fmt.Errorf("%s: %w", name, err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return measure{}, errors.New("this system does not say what a process took")
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m := measure{Name: name, CPU: cpu, Seconds: time.Since(began).Seconds(), Memory: usage.Maxrss << 10, Rate: content / 1e6 / cpu}
	m.print()
	return m, nil
}

func (m *measure) print() {
	fmt.Printf("%-58s %8.1f MB/s a core  %7.2f s of CPU  %5d MiB  %s\n", m.Name, m.Rate, m.CPU, m.Memory>>20, m.Error)
}

// measureStages measures what each stage adds: each has those before it in it.
func (o options) measureStages(dir string, p *plan, r *report) error {
	archives, err := filepath.Glob(filepath.Join(dir, "warc", "*.gz"))
	if err != nil {
		return err
	}
	content := float64(p.content)
	gunzip, err := measureGunzip(archives, content)
	if err != nil {
		return err
	}
	r.Stages = append(r.Stages, gunzip)
	config, err := o.configure(dir, "measured")
	if err != nil {
		return err
	}
	warc, wat := filepath.Join(dir, "warc"), filepath.Join(dir, "wat")
	for _, s := range []struct {
		name string
		args []string
	}{
		{"records: the URL as it is", []string{"parse", "-q", "--codec", "warc", "--to", "ndjson", "--columns", "url", warc}},
		{"columns of the index, Parquet", []string{"parse", "-q", "--codec", "warc", "-o", filepath.Join(dir, "columns"), warc}},
		{"dedupe, and the index exactly once", []string{"run", config}},
		{"links of WAT (by the bytes of WARC)", []string{"parse", "-q", "--codec", "wat", "--to", "ndjson", "--columns", "page,href,link_path", wat}},
	} {
		m, err := o.measure(s.name, filepath.Join(dir, "measured.out"), content, o.binary, s.args...)
		if err != nil {
			return err
		}
		r.Stages = append(r.Stages, m)
	}
	r.Gunzip = gunzip.CPU / r.Stages[3].CPU
	fmt.Printf("gunzip takes %.0f %% of the CPU time of the index\n", 100*r.Gunzip)
	return p.checkLinks(filepath.Join(dir, "measured.out"))
}

// checkLinks checks the number of links.
func (p *plan) checkLinks(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := 0
	for _, b := range text {
		if b == '\n' {
			lines++
		}
	}
	if lines != p.links {
		return fmt.Errorf("%d links were read, and %d written", lines, p.links)
	}
	return nil
}

// measureGunzip decompresses the archives with the library that urlmill has, in this process.
func measureGunzip(archives []string, content float64) (measure, error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return measure{}, err
	}
	began := time.Now()
	for _, path := range archives {
		f, err := os.Open(path)
		if err != nil {
			return measure{}, err
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			return measure{}, err
		}
		if _, err = io.Copy(io.Discard, z); err != nil {
			return measure{}, err
		}
		if err := f.Close(); err != nil {
			return measure{}, err
		}
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		return measure{}, err
	}
	cpu := float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
	m := measure{Name: "gunzip alone", CPU: cpu, Seconds: time.Since(began).Seconds(), Rate: content / 1e6 / cpu}
	m.print()
	return m, nil
}

// captured is a row of the index.
type captured struct {
	File      string `parquet:"warc_filename"`
	Offset    int32  `parquet:"warc_record_offset"`
	Length    int32  `parquet:"warc_record_length"`
	Duplicate bool   `parquet:"is_duplicate"`
}

// dead is a dead letter.
type dead struct {
	File  string `parquet:"file"`
	Error string `parquet:"url_error"`
	Pos   int32  `parquet:"url_error_pos"`
}

// check compares the index with the plan.
func (p *plan) check(dir string) error {
	seen, first := map[place]bool{}, map[int]int{}
	err := output.EachRow(filepath.Join(dir, "index"), func(c captured) error {
		at := place{filepath.Base(c.File), int64(c.Offset), int64(c.Length)}
		page, ok := p.pages[at]
		if !ok || seen[at] {
			return fmt.Errorf("the row of %+v is there (planned: %t, twice: %t)", at, ok, seen[at])
		}
		if seen[at] = true; !c.Duplicate {
			first[page]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(seen) != len(p.pages) {
		return fmt.Errorf("%d rows, and %d captures", len(seen), len(p.pages))
	}
	left := map[int]bool{}
	for _, page := range p.pages {
		left[page] = true
	}
	for page := range left {
		if first[page] != 1 {
			return fmt.Errorf("page %d has %d rows that are no duplicates", page, first[page])
		}
	}
	letters := map[place]int{}
	if err := output.EachRow(filepath.Join(dir, "index-dead"), func(d dead) error {
		if d.Error != "record-corrupt" {
			return fmt.Errorf("a dead letter with %s", d.Error)
		}
		letters[place{filepath.Base(d.File), int64(d.Pos), 0}]++
		return nil
	}); err != nil {
		return err
	}
	for _, at := range p.damaged {
		if letters[place{at.file, at.offset, 0}] != 1 {
			return fmt.Errorf("the damaged member %+v has %d dead letters", at, letters[place{at.file, at.offset, 0}])
		}
	}
	if len(letters) != len(p.damaged) {
		return fmt.Errorf("%d dead letters for %d damaged members", len(letters), len(p.damaged))
	}
	return nil
}
