package doctest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// subprocess is a processor of Redpanda Connect and Bento.
type subprocess struct {
	Name      string
	Args      []string
	CodecSend string `yaml:"codec_send"`
	CodecRecv string `yaml:"codec_recv"`
	MaxBuffer int    `yaml:"max_buffer"`
}

// ask does what the processor does with a message: it writes what is before it, itself, and what is behind it one after the
// other, and takes the answer out of a buffer of max_buffer before it goes on.
type ask struct {
	in  io.Writer
	out *bufio.Scanner
	of  subprocess
}

func newAsk(in io.Writer, out io.Reader, s subprocess) *ask {
	a := &ask{in: in, out: bufio.NewScanner(out), of: s}
	a.out.Buffer(nil, s.MaxBuffer)
	switch s.CodecRecv {
	case "length_prefixed_uint32_be":
		a.out.Split(func(data []byte, _ bool) (int, []byte, error) {
			if len(data) < 4 || len(data)-4 < int(binary.BigEndian.Uint32(data)) {
				return 0, nil, nil
			}
			end := 4 + int(binary.BigEndian.Uint32(data))
			return end, data[4:end], nil
		})
	case "netstring":
		a.out.Split(func(data []byte, _ bool) (int, []byte, error) {
			length, rest, ok := strings.Cut(string(data), ":")
			if !ok {
				return 0, nil, nil
			}
			n, err := strconv.Atoi(length)
			if err != nil || len(rest) <= n {
				return 0, nil, err
			}
			if rest[n] != ',' {
				return 0, nil, fmt.Errorf("no comma behind %.100q", rest)
			}
			return len(length) + 1 + n + 1, []byte(rest[:n]), nil
		})
	}
	return a
}

func (a *ask) message(t *testing.T, message string) []byte {
	t.Helper()
	parts := []string{"", message, "\n"}
	switch a.of.CodecSend {
	case "length_prefixed_uint32_be":
		parts = []string{string(binary.BigEndian.AppendUint32(nil, uint32(len(message)))), message}
	case "netstring":
		parts = []string{strconv.Itoa(len(message)) + ":", message, ","}
	}
	for _, part := range parts {
		if _, err := io.WriteString(a.in, part); err != nil {
			t.Fatal(err)
		}
	}
	if !a.out.Scan() {
		t.Fatalf("no answer to %.200s: %v", message, a.out.Err())
	}
	return a.out.Bytes()
}

// TestRedpandaConnect does with the command of the page's configuration what the processor does, in every framing, with the worst
// URL that the page promises to fit.
func TestRedpandaConnect(t *testing.T) {
	var c struct {
		Pipeline struct {
			Processors []struct {
				Branch struct {
					Processors []struct{ Subprocess subprocess }
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(fenced(t, "redpanda-connect.md", "yaml")), &c); err != nil {
		t.Fatal(err)
	}
	of := c.Pipeline.Processors[0].Branch.Processors[0].Subprocess
	if of.CodecSend != "length_prefixed_uint32_be" || of.CodecRecv != of.CodecSend || len(of.Args) != 4 {
		t.Fatalf("%+v", of)
	}
	worst, err := json.Marshal(map[string]string{"input": "http://h/?" + strings.Repeat("\x01", 87_000) + "x"})
	if err != nil {
		t.Fatal(err)
	}
	for codec, args := range map[string][]string{"length_prefixed_uint32_be": of.Args, "netstring": {"url", "--ndjson", "--framing", "netstring"}, "lines": {"url", "--ndjson"}} {
		t.Run(codec, func(t *testing.T) {
			of := of
			of.Args, of.CodecSend, of.CodecRecv = args, codec, codec
			in, out, done := host(t, append([]string{of.Name}, of.Args...))
			a := newAsk(in, out, of)
			between := "\n" // which only lines cannot have in a message
			if codec == "lines" {
				between = " "
			}
			for i := range 3000 {
				var got struct{ Href, Error string }
				request, want := fmt.Sprintf("{\"input\":\"../%d\",%s\"base\":\"http://h/a/b\"}", i, between), fmt.Sprintf("http://h/%d", i)
				switch i % 10 {
				case 1:
					request, want = `{"input":"http://1.2.3.300/","base":null}`, "IPv4-out-of-range-part"
				case 2:
					request, want = `{"base":null}`, "record-malformed"
				}
				if err := json.Unmarshal(a.message(t, request), &got); err != nil || got.Href+got.Error != want {
					t.Fatalf("%s: %+v, %v", request, got, err)
				}
			}
			if answer := a.message(t, string(worst)); len(answer) < 11*87_000 {
				t.Errorf("an answer of %d bytes is no bad one", len(answer))
			}
			done()
		})
	}
}
