package kafka

import (
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// start is a parsed start policy: one of the special times of the protocol, or milliseconds since 1970 UTC.
type start struct {
	timestamp int64
	text      string
}

// Special times of the protocol's ListOffsets request.
const (
	latestTime   = -1
	earliestTime = -2
)

func parseStart(s string) (start, error) {
	switch s {
	case "", StartCommitted, StartEarliest:
		return start{earliestTime, StartEarliest}, nil
	case StartLatest:
		return start{latestTime, StartLatest}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return start{}, pipeline.ValueErrorf("start", s, "is not known").Advise("use %s, %s, %s or a time such as 2026-01-31T15:04:05Z",
			StartCommitted, StartEarliest, StartLatest)
	}
	if t.UnixMilli() < 0 {
		return start{}, pipeline.ValueErrorf("start", s, "is before 1970, where Kafka's time begins")
	}
	// A fraction of a millisecond rounds up: no record may be older.
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return start{ms, s}, nil
}
