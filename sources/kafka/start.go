package kafka

import (
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// start is a parsed start policy: one of the special times of the protocol, or milliseconds since 1970 UTC.
type start struct {
	timestamp int64
	text      string
}

// startValue is a start policy, or a time, which is set in UTC.
func startValue(p *string) config.Value {
	policies := []string{StartEarliest, StartLatest, StartCommitted}
	return config.Single{
		Wanted: "one of " + config.Listed(policies, "or") + ", or a time such as 2026-07-01T00:00:00Z",
		Shape: config.Shape{"anyOf": []config.Shape{
			{"enum": policies}, {"type": "string", "format": "date-time", "pattern": `^\d{4}-\d\d-\d\dT`},
		}},
		Get:     func() any { return *p },
		Current: func() string { return *p },
		Set: func(s config.Scalar) (bool, string) {
			if slices.Contains(policies, s.Text) {
				*p = s.Text
				return true, ""
			}
			if t, err := time.Parse(time.RFC3339Nano, s.Text); err == nil {
				*p = t.UTC().Format(time.RFC3339Nano)
				return true, ""
			}
			if !s.Written() {
				return false, ""
			}
			return false, config.Suggest(s.Text, policies)
		},
	}
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
	return start{millis(t), s}, nil
}

// millis returns a time as Kafka counts it. A fraction of a millisecond rounds up: no record that is found by it may be older.
func millis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}
