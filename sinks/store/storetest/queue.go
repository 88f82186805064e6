package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
)

// Queue tests that messages are received with the keys that they are about, kept from others, given back, and deleted. The queue is an
// empty one with the notifications of the bucket logs, into which notify puts a message about objects that are new, and send one that
// is no notification.
func Queue(t *testing.T, q objstore.Queue, notify func(keys ...string), send func(text string)) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const hold = 30 * time.Second
	receive := func(n int) (got []*objstore.Message) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); len(got) < n && time.Now().Before(end); {
			some, err := q.Receive(t.Context(), hold)
			must(err)
			got = append(got, some...)
		}
		if len(got) != n {
			t.Fatalf("%d messages, want %d", len(got), n)
		}
		return got
	}
	must(q.Check(t.Context()))
	want := []string{"dt=2026-11-24/a b+c%ä.gz", "b"}
	for _, key := range want {
		notify(key)
	}
	send("no notification")
	messages := receive(3)
	var keys []string
	aliens := 0
	for _, m := range messages {
		if keys = append(keys, m.Keys...); m.Alien != "" {
			aliens++
		}
		if m.ID == "" || m.Handle == "" {
			t.Errorf("%+v", m)
		}
	}
	slices.Sort(keys)
	slices.Sort(want)
	if !slices.Equal(keys, want) || aliens != 1 {
		t.Errorf("keys %q, want %q; %d aliens", keys, want, aliens)
	}
	must(q.Hold(t.Context(), messages, hold))
	must(q.Hold(t.Context(), messages[:1], 0))
	again := receive(1)
	if again[0].ID != messages[0].ID {
		t.Errorf("message %s was given back, and %s came", messages[0].ID, again[0].ID)
	}
	if again[0].Handle == messages[0].Handle {
		t.Error("a message that was received again has the same handle")
	}
	messages[0] = again[0]
	must(q.Delete(t.Context(), messages))
	must(errors.Join(q.Delete(t.Context(), messages), q.Hold(t.Context(), messages, 0))) // they are gone
	notify("last")
	last := receive(1)
	if !slices.Equal(last[0].Keys, []string{"last"}) {
		t.Errorf("keys %q after all was deleted", last[0].Keys)
	}
	must(q.Delete(t.Context(), last))
}
