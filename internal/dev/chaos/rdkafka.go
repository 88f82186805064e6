package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"io"
	"os/exec"
	"strings"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

//go:embed rdkafka.py
var rdkafkaScript string

// rdkafka is a process that produces by librdkafka.
type rdkafka struct {
	f      *feed
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	cmd    *exec.Cmd
}

// rdkafka starts a process that produces to the topic of a feed, until the scenario is over.
func (f *feed) rdkafka() *rdkafka {
	r := f.r
	r.Helper()
	r.needPython()
	p := &rdkafka{f: f, cmd: exec.Command(r.env.python, "-c", rdkafkaScript, strings.Join(f.cluster.Addrs(), ","), f.Name, f.Name)}
	p.cmd.Stderr = &p.stderr
	in, err := p.cmd.StdinPipe()
	r.must(err)
	out, err := p.cmd.StdoutPipe()
	r.must(err)
	p.in, p.out = in, bufio.NewReader(out)
	r.must(p.cmd.Start())
	r.Cleanup(func() {
		_ = p.in.Close() // which ends it
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// needPython ends a scenario that has no Python to produce or to read with.
func (r *run) needPython() {
	r.Helper()
	if r.env.python == "" {
		r.Fatalf("%s is not set to a Python with what internal/dev/chaos/requirements.txt has: `make chaos` sees to it", envPython)
	}
}

// tell gives a command with what follows it, and returns the runs of offsets in the answer.
func (p *rdkafka) tell(command map[string]any, records []byte) (runs [][3]int64) {
	r := p.f.r
	r.Helper()
	line, err := json.Marshal(command)
	r.must(err)
	var answer struct{ Runs [][3]int64 }
	_, err = p.in.Write(append(append(line, '\n'), records...))
	if err == nil {
		line, err = p.out.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &answer)
	}
	if err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // so that it has said all
		r.Fatalf("librdkafka: %v\n%s", err, p.stderr.String())
	}
	return answer.Runs
}

// do begins, commits or aborts a transaction.
func (p *rdkafka) do(what, by string) { p.tell(map[string]any{"do": what, "by": by}, nil) }

// produce produces the next n records of every partition. Those that are to be aborted are not noted, and come again.
func (p *rdkafka) produce(by string, n int64, abort bool) {
	f := p.f
	f.mu.Lock()
	defer f.mu.Unlock()
	var records []byte
	for j := range n {
		for q := range f.counts {
			records = f.appendFramed(records, q, f.counts[q]+j)
		}
	}
	runs := p.tell(map[string]any{"do": "produce", "by": by, "count": n * int64(len(f.counts))}, records)
	if abort {
		return
	}
	for _, run := range runs {
		f.AcknowledgedRun(int(run[0]), run[1], run[2])
		f.counts[run[0]] += run[2]
		f.total.Add(run[2])
	}
}

// appendFramed appends a record as rdkafka.py reads it.
func (f *feed) appendFramed(dst []byte, p int, i int64) []byte {
	value := f.AppendValue(nil, p, i)
	key, ok := f.AppendKey(nil, p, i)
	keyLength := int32(-1)
	if ok {
		keyLength = int32(len(key))
	}
	headers := [][2]any{}
	for _, h := range f.Headers(p, i) {
		if h.Value == nil {
			headers = append(headers, [2]any{h.Key, nil})
		} else {
			headers = append(headers, [2]any{h.Key, h.Value}) // base64
		}
	}
	text, err := json.Marshal(headers)
	f.r.must(err)
	dst = binary.BigEndian.AppendUint32(dst, uint32(p))
	dst = binary.BigEndian.AppendUint64(dst, uint64(f.Time(p, i)))
	for _, length := range []int32{int32(len(value)), keyLength, int32(len(text))} {
		dst = binary.BigEndian.AppendUint32(dst, uint32(length))
	}
	return append(append(append(dst, value...), key...), text...)
}

// librdkafka has librdkafka produce, idempotently and in transactions, with every compression in turn into the same
// partitions, some of it while another producer's transaction is open. Every other transaction is aborted.
func librdkafka(r *run) {
	rounds, most := pick(r, 60, 12), pick(r, int64(3000), 300)
	f := r.newFeed(&facts.Topic{Name: "librdkafka", Partitions: 3, JSON: true})
	w := want{feed: f, out: r.path("out")}
	config := r.config(job{feed: f, group: "librdkafka", out: w.out})
	producer := f.rdkafka()
	m := r.start(config)
	codecs := []string{"none", "gzip", "snappy", "lz4", "zstd"}
	for i := range rounds {
		codec, other := codecs[i%len(codecs)], codecs[(i+2)%len(codecs)]
		by, beside := "transactional:"+codec, "transactional:"+other
		abort := r.rand.IntN(2) == 0
		producer.do("begin", by)
		producer.produce(by, 1+r.rand.Int64N(most), abort)
		producer.produce("plain:"+codec, 1+r.rand.Int64N(most), false)
		producer.do("begin", beside)
		producer.produce(beside, 1+r.rand.Int64N(most), false)
		f.produce(1 + r.rand.IntN(10)) // franz-go among them
		producer.do("commit", beside)
		if abort {
			producer.do("abort", by)
			r.fault("transaction aborted")
		} else {
			producer.do("commit", by)
		}
		r.fault("transactions of two producers open at once")
		if i%4 == 3 {
			m.Kill()
			r.fault("kill -9")
			m = r.start(config)
		}
	}
	r.finish(m, f, w)
}
