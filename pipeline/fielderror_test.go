package pipeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

func ExampleUnder() {
	var p pipeline.Problems
	p.Value("compression", "lzo", "is not known").Advise("use none, lz4 or zstd")
	p.Add("topic", "missing; name the topic")
	p.Join(errors.New("one of the two is enough"))
	for _, e := range pipeline.FieldErrors(pipeline.Under("dead_letters.kafka", p.Err())) {
		fmt.Println(e)
	}
	// Output:
	// dead_letters.kafka.compression: "lzo" is not known; use none, lz4 or zstd
	// dead_letters.kafka.topic: missing; name the topic
	// dead_letters.kafka: one of the two is enough
}

func TestFieldErrorText(t *testing.T) {
	type name string
	for want, e := range map[string]*pipeline.FieldError{
		"lanes: 0 is not between 1 and 8":           pipeline.ValueErrorf("lanes", 0, "is not between %d and %d", 1, 8),
		`mode: "x\n" is none; give mark`:            pipeline.ValueErrorf("mode", name("x\n"), "is none").Advise("give mark"),
		"paths[0]: it is empty; give %s":            pipeline.FieldErrorf("paths[0]", "it is empty").Advise("give %%s"),
		"there is no such thing":                    {Reason: "there is no such thing"},
		"tls.ca_file: \"a.pem\" cannot be read: no": pipeline.ValueErrorf("tls.ca_file", "a.pem", "cannot be read: %w", errors.New("no")),
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFieldErrors checks that joined errors are told apart whatever their texts are, and that no text is lost.
func TestFieldErrors(t *testing.T) {
	inner := pipeline.FieldErrorf("a", "two\nlines: with a colon")
	both := fmt.Errorf("%w and %w", errors.New("this"), errors.New("that"))
	err := errors.Join(errors.Join(inner), fmt.Errorf("Path: around: %w", inner), both)
	var got []string
	for _, e := range pipeline.FieldErrors(err) {
		got = append(got, e.Path+"|"+e.Reason)
	}
	want := []string{"a|two\nlines: with a colon", "|Path: around: a: two\nlines: with a colon", "|this and that"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := pipeline.FieldErrors(nil); got != nil {
		t.Errorf("%v of nothing", got)
	}
}

func TestUnder(t *testing.T) {
	if err := pipeline.Under("x", nil); err != nil {
		t.Errorf("%v of nothing", err)
	}
	missing := pipeline.FieldErrorf("file", "not there: %w", fs.ErrNotExist)
	for _, test := range []struct{ prefix, path, want string }{
		{"tls", "ca_file", "tls.ca_file"}, {"paths", "[2]", "paths[2]"}, {"tls", "", "tls"}, {"", "ca_file", "ca_file"}, {"", "", ""},
	} {
		e := *missing
		e.Path = test.path
		err := pipeline.Under(test.prefix, errors.Join(&e))
		if got := pipeline.FieldErrors(err)[0].Path; got != test.want {
			t.Errorf("%q under %q is %q, want %q", test.path, test.prefix, got, test.want)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v has lost its cause", err)
		}
		if e.Path != test.path {
			t.Errorf("the error below has become %q", e.Path)
		}
	}
}
