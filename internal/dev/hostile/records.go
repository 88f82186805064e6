package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// recordChanges are what somebody who can write to an output may put into a commit record: pairs of what is there and what
// takes its place.
var recordChanges = map[string][2]string{
	"dir-above":     {`"name":"`, `"dir":"../vic","name":"`},
	"dir-absolute":  {`"name":"`, `"dir":"ELSEWHERE","name":"`},
	"dir-waiting":   {`"token":"`, `"dir":"../vic","token":"_tmp/0123abcd/rows.tmp","was":"`},
	"dir-discard":   {`"token":"`, `"dir":"../vic","name":"keep.parquet","bytes":20,"token":"_tmp/0123abcd/rows.tmp","was":"`},
	"dir-unclean":   {`"token":"`, `"dir":"ELSEWHERE/../vic","token":"_tmp/0123abcd/rows.tmp","was":"`},
	"name-above":    {`"name":"`, `"name":"../vic/`},
	"token-above":   {`"token":"`, `"token":"../vic/keep.parquet`},
	"token-victim":  {`"token":"_tmp/`, `"token":"_tmp/../../vic/`},
	"rows-claim":    {`"rows":50`, `"rows":9223372036854775807`},
	"rows-minus":    {`"rows":50`, `"rows":-50`},
	"bytes-claim":   {`"bytes":`, `"bytes":9223372036854775`},
	"next-claim":    {`"next":50`, `"next":9223372036854775807`},
	"next-minus":    {`"next":50`, `"next":-1`},
	"version":       {`"version":1`, `"version":99`},
	"lane":          {`"lane":"`, `"lane":"../../`},
	"control":       {`"stream":"`, `"stream":"\u001b]0;PWNED\u0007\u202e`},
	"nested":        {`"files":[`, `"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `,"files":[`},
	"many-files":    {`"files":[`, `"files":[` + strings.Repeat(`{},`, 200_000)},
	"checksum":      {`"checksum":"xxh3:`, `"checksum":"md5:`},
	"nothing":       {`{"version`, `null{"version`},
	"duplicate-key": {`"first":0`, `"first":0,"first":7,"FIRST":9`},
}

// recordCases change the commit records of an output, which verify, compact, files and the next run read.
func recordCases() []*testCase {
	commands := map[string][]string{
		"verify": {"verify", "out"}, "repair": {"verify", "out", "--repair"}, "files": {"files", "out"},
		"compact": {"compact", "out", "--min-age", "0s"}, "run": {"run", "run.yaml"},
	}
	var all []*testCase
	add := func(name, command string, change func(w *workplace, data []byte) []byte) {
		all = append(all, recordCase(name+"/"+command, commands[command], change))
	}
	for name, pair := range recordChanges {
		for command := range commands {
			add(name, command, func(w *workplace, data []byte) []byte {
				return bytes.Replace(data, []byte(pair[0]), []byte(strings.ReplaceAll(pair[1], "ELSEWHERE", w.path("elsewhere"))), 1)
			})
		}
	}
	order := []string{"verify", "repair", "files", "compact", "run"}
	for i := range 40 {
		add(fmt.Sprintf("mutated%02d", i), order[i%len(order)], func(w *workplace, data []byte) []byte {
			for {
				if changed := mutateText(w.random, data); !bytes.Equal(changed, data) {
					return changed
				}
			}
		})
	}
	return all
}

// victims are the files beside the output.
var victims = []string{"vic/keep.parquet", "vic/_tmp/0123abcd/rows.tmp"}

// recordCase makes an output, changes its records, and runs a command; what is outside of the output stays as it is.
func recordCase(name string, args []string, change func(w *workplace, data []byte) []byte) *testCase {
	const victim = "somebody else's file"
	return &testCase{
		name: "records/" + name, format: "records",
		files: func(w *workplace) error {
			config := strings.Replace(configuration(ndjsonKind.codec), "ndjson: {path: out}", "parquet: {path: out}", 1)
			for _, err := range []error{
				w.write("run.yaml", []byte(config)), w.write("vic/keep.parquet", []byte(victim)), w.write("vic/_tmp/0123abcd/rows.tmp", []byte(victim)),
				w.copyBase("good.ndjson", "in/good.ndjson"), w.copyBase("bad.ndjson", "in/bad.ndjson"),
			} {
				if err != nil {
					return err
				}
			}
			return nil
		},
		steps: []step{
			{args: []string{"run", "run.yaml"}, codes: []int{0}, strict: true},
			{
				args: args, codes: []int{0, 1, 4, 5}, strict: args[0] == "run",
				before: func(w *workplace) error { return w.changeRecords(change) },
				good:   func(w *workplace) error { return w.untouched(victim) },
			},
			{ // nothing is worse the second time
				args: args, codes: []int{0, 1, 4, 5}, strict: args[0] == "run",
				good: func(w *workplace) error { return w.untouched(victim) },
			},
		},
	}
}

// changeRecords changes the newest record of the first lane.
func (w *workplace) changeRecords(change func(w *workplace, data []byte) []byte) error {
	names, err := filepath.Glob(filepath.Join(w.path("out"), "_commits", "*", "*", "0*.json"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no commit records: %w", err)
	}
	slices.Sort(names)
	data, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	changed := change(w, data)
	if bytes.Equal(changed, data) {
		return fmt.Errorf("the record has nothing to change: %.300s", data)
	}
	return os.WriteFile(names[0], changed, 0o644)
}

// untouched reports what has been made, changed or removed beside the output.
func (w *workplace) untouched(victim string) error {
	for _, name := range victims {
		data, err := os.ReadFile(w.path(name))
		if err != nil || string(data) != victim {
			return fmt.Errorf("the file outside of the output is not as it was: %.100q, %w", data, err)
		}
	}
	for _, outside := range []string{w.path("elsewhere"), w.path("vic/x.parquet")} {
		if _, err := os.Stat(outside); err == nil {
			return fmt.Errorf("%s was made outside of the output", outside)
		}
	}
	return filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		if rel == "out" || rel == "in" {
			return filepath.SkipDir
		}
		switch top, _, _ := strings.Cut(rel, string(filepath.Separator)); {
		case d.IsDir(), slices.Contains(victims, filepath.ToSlash(rel)), top == "run.yaml", strings.HasPrefix(top, "std"):
			return nil
		}
		return fmt.Errorf("%s was made outside of the output", rel)
	})
}
