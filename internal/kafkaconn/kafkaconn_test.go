package kafkaconn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

func TestBackoff(t *testing.T) {
	var b Backoff
	for i := range 70 {
		most := min(MinBackoff<<min(i, 10), maxBackoff)
		if d := b.pause(); d < most/2 || d > most {
			t.Errorf("pause %d is %v, want %v to %v", i, d, most/2, most)
		}
	}
	if n := b.Tries(); n != 70 {
		t.Errorf("%d tries", n)
	}
	b.Reset()
	if d := b.pause(); d > MinBackoff {
		t.Errorf("%v after a reset", d)
	}
}

func TestAbsence(t *testing.T) {
	var a Absence
	missing := fmt.Errorf("asking: %w", kafkago.UnknownTopicOrPartition)
	a.Note(missing)
	a.since = a.since.Add(-time.Hour)
	if d := a.Note(missing); d < time.Hour {
		t.Errorf("missing for %v", d)
	}
	if d := a.Note(errors.New("refused")); d != 0 {
		t.Errorf("another error: %v", d)
	}
	if d := a.Note(missing); d > time.Minute {
		t.Errorf("missing again: %v", d)
	}
	a.since = a.since.Add(-time.Hour)
	a.End()
	if d := a.Note(missing); d > time.Minute {
		t.Errorf("missing after it was there: %v", d)
	}
}

// TestRetry lets tries fail with errors in turn; the last of them, or nil, ends it.
func TestRetry(t *testing.T) {
	stopped := make(chan struct{})
	close(stopped)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	passing := errors.New("passing")
	for name, test := range map[string]struct {
		ctx    context.Context
		stop   chan struct{}
		errs   []error
		want   error
		tries  int
		warned int
	}{
		"success":       {t.Context(), nil, []error{nil}, nil, 1, 0},
		"passes":        {t.Context(), nil, []error{passing, passing, nil}, nil, 3, 1},
		"fatal":         {t.Context(), nil, []error{passing, kafkago.IllegalSASLState}, kafkago.IllegalSASLState, 2, 0},
		"stopped":       {t.Context(), stopped, []error{passing}, ErrStopped, 1, 0},
		"cancelled":     {over, nil, []error{passing}, context.Canceled, 1, 0},
		"before advice": {over, nil, []error{kafkago.IllegalSASLState}, context.Canceled, 1, 0},
		"stopped late":  {t.Context(), stopped, []error{nil}, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tries, warned := 0, 0
			err := Retry{
				Explain: func(err error, _ time.Duration) error {
					return Explain(err, SASL{}, func(kafkago.Error) string { return "" })
				},
				Warn: func(error) { warned++ },
				Stop: test.stop,
			}.Do(test.ctx, func(context.Context) error {
				tries++
				return test.errs[tries-1]
			})
			if !errors.Is(err, test.want) || tries != test.tries || warned != test.warned {
				t.Errorf("%v after %d tries with %d warnings", err, tries, warned)
			}
		})
	}
}

// TestRetryTellsTheAbsence ends a request when its topic has been missing for some time.
func TestRetryTellsTheAbsence(t *testing.T) {
	var told []time.Duration
	gone := errors.New("gone")
	err := Retry{
		Explain: func(err error, missing time.Duration) error {
			if told = append(told, missing); missing > time.Millisecond {
				return &FatalError{gone, "make it"}
			}
			return err
		},
		Warn: func(error) {},
	}.Do(t.Context(), func(context.Context) error { return kafkago.UnknownTopicOrPartition })
	if !errors.Is(err, gone) || len(told) != 2 {
		t.Errorf("%v after %v", err, told)
	}
}

// TestExplain: the caller's advice goes before that for every client, and errors that pass have none.
func TestExplain(t *testing.T) {
	login := SASL{Mechanism: MechanismPlain, Username: "ann", Password: "s3cret"}
	own := func(code kafkago.Error) string {
		if code == kafkago.InvalidTopic || code == kafkago.ClusterAuthorizationFailed {
			return "my advice"
		}
		return ""
	}
	for err, word := range map[error]string{
		kafkago.InvalidTopic:                                                 "my advice",
		kafkago.ClusterAuthorizationFailed:                                   "my advice",
		kafkago.SASLAuthenticationFailed:                                     `user "ann" with plain`,
		kafkago.UnsupportedVersion:                                           "older than",
		&LoginError{errors.New("no")}:                                        "check SASL",
		fmt.Errorf("kafka.(*Client).Metadata: %w", kafkago.IllegalSASLState): "leave SASL out",
	} {
		got := Explain(err, login, own)
		if !IsFatal(got) || !strings.Contains(got.Error(), word) || strings.Contains(got.Error(), "s3cret") || strings.Contains(got.Error(), "(*Client)") {
			t.Errorf("%v: %v", err, got)
		}
		if again := Explain(got, login, own); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("explained twice: %v", again)
		}
	}
	for _, err := range []error{nil, kafkago.NotLeaderForPartition, errors.New("refused")} {
		if got := Explain(err, login, own); fmt.Sprint(got) != fmt.Sprint(err) || IsFatal(got) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestNoTopicsNamesTheCommands(t *testing.T) {
	err := NoTopics(errors.New("not there"), []string{"a:1", "b:2"}, "start_timeout", "x", "y")
	want := "not there: check the spelling, or create it with: kafka-topics.sh --bootstrap-server a:1 --create --topic x --partitions 4; " +
		"kafka-topics.sh --bootstrap-server a:1 --create --topic y --partitions 4; start_timeout says how long to wait for it"
	if err.Error() != want || !IsFatal(err) {
		t.Error(err)
	}
}
