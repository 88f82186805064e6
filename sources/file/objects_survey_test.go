package file

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// known returns what an output says of its lanes.
func (k *chains) known() (all []pipeline.Known) {
	for id, marks := range k.lanes {
		all = append(all, pipeline.Known{
			Lane: id, Mark: marks[len(marks)-1],
			History: func(ctx context.Context, each func(pipeline.Mark) error) error { return k.History(ctx, id, each) },
		})
	}
	return all
}

// surveyed returns what a source finds about an output, a line for each finding, sorted.
func surveyed(t *testing.T, c objstore.Store, known []pipeline.Known) (found []string) {
	t.Helper()
	s, err := openCloud(c, nil, "s3://b/p/")
	if err != nil {
		t.Fatal(err)
	}
	standings, err := s.Survey(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range standings {
		for _, f := range at.Findings {
			found = append(found, string(f.Kind)+": "+f.Message)
		}
	}
	slices.Sort(found)
	return found
}

// An output is compared with the bucket: objects that were not read, or have another content than was read, those of which a part was, and
// those that are gone.
func TestObjectsSurvey(t *testing.T) {
	c, k := new(cloud), newChains()
	for i := range 40 {
		c.put(fmt.Sprintf("p/%02d", i), lines(fmt.Sprint(i), 3))
	}
	if found := surveyed(t, c, nil); len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), "not read yet, of ") {
		t.Errorf("before the start: %q", found)
	}
	s, err := openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err != nil {
		t.Fatal(err)
	}
	if found := surveyed(t, c, k.known()); len(found) > 0 {
		t.Errorf("after everything was read: %q", found)
	}
	c.put("p/new", lines("new", 3))
	c.put("p/07", lines("again", 3))
	c.remove("p/11")
	size := len(c.content["p/new"])
	want := []string{
		"no_source: 2 objects were read, and not in the bucket now, or there with another content", // of one lane
		fmt.Sprintf("unread: 1 object was not read yet, of %d bytes, such as s3://b/p/new", size),
		fmt.Sprintf("unread: 1 object was not read yet, of %d bytes, such as s3://b/p/07", len(c.content["p/07"])),
	}
	if found := surveyed(t, c, k.known()); !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
	other := pipeline.Known{Lane: pipeline.LaneID{Stream: "s3://other", Session: "objects1of16"}}
	if found := surveyed(t, c, append(k.known(), other)); len(found) != len(want)+1 || !strings.Contains(found[1], "no lane of the objects") {
		t.Errorf("%q", found)
	}
}

// An object of which a part was read is said to be that, and is a problem when it is there no more.
func TestObjectsSurveyWithin(t *testing.T) {
	c, k := new(cloud), newChains()
	k.dies, k.every = 2, 1
	c.put("p/a", lines("a", 100))
	s, err := openCloud(c, nil, "s3://b/p/")
	if err := k.read(t, s, err); err == nil {
		t.Fatal("it was to die")
	}
	want := "unread: of s3://b/p/a 14 records were read, and the rest was not yet"
	if found := surveyed(t, c, k.known()); !slices.Equal(found, []string{want}) {
		t.Errorf("%q", found)
	}
	c.put("p/a", lines("b", 100))
	found := surveyed(t, c, k.known())
	if len(found) != 2 || !strings.HasPrefix(found[0], "never_read: of s3://b/p/a 14 records were read; it was removed or replaced since") {
		t.Errorf("%q", found)
	}
	if !pipeline.NeverRead.Problem() {
		t.Error("it is no problem")
	}
}

// An output of many objects is compared within bounds. URLMILL_OBJECTS is another number of them, and with it they are timed.
func TestObjectsSurveyMany(t *testing.T) {
	m := &many{n: 200_000}
	if n, err := strconv.Atoi(os.Getenv("URLMILL_OBJECTS")); err == nil {
		m.n, m.page = n, 20*time.Millisecond
	}
	m.done = m.n - 10
	m.commit(t)
	s, err := openCloud(m, nil, "s3://b/logs/")
	if err != nil {
		t.Fatal(err)
	}
	var known []pipeline.Known
	for slot := range objectLanes {
		id := s.laneID(slot)
		known = append(known, pipeline.Known{
			Lane: id, Mark: pipeline.Mark{Next: m.next[slot]},
			History: func(ctx context.Context, each func(pipeline.Mark) error) error { return m.History(ctx, id, each) },
		})
	}
	start := time.Now()
	standings, err := s.Survey(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	unread := 0
	for _, at := range standings {
		for _, f := range at.Findings {
			var n int
			if _, err := fmt.Sscanf(f.Message, "%d object", &n); err != nil || f.Kind != pipeline.Unread {
				t.Errorf("%s: %s", f.Kind, f.Message)
			}
			unread += n
		}
	}
	if most := int64(m.n/pageObjects + 2); unread != 10 || m.lists.Load() > most {
		t.Errorf("%d objects not read, %d requests, want at most %d", unread, m.lists.Load(), most)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	t.Logf("%d objects: %v, %d requests; peak %s, heap %d MiB", m.n, time.Since(start), m.lists.Load(), strings.TrimSpace(peak), memory.HeapSys>>20)
}
