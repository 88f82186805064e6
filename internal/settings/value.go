package settings

import (
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
)

// startValue is where a consumer group without a position begins.
func startValue(p *Start) config.Value {
	policies := []string{StartEarliest, StartLatest, StartCommitted}
	return config.Single{
		Wanted: "one of " + config.Listed(policies, "or") + ", or a time such as 2026-07-01T00:00:00Z",
		Shape: config.Shape{"anyOf": []config.Shape{
			{"enum": policies}, {"type": "string", "format": "date-time", "pattern": `^\d{4}-\d\d-\d\dT`},
		}},
		Get:     func() any { return *p },
		Current: func() string { return p.text() },
		Set: func(s config.Scalar) (bool, string) {
			if slices.Contains(policies, s.Text) {
				*p = Start{Policy: s.Text}
				return true, ""
			}
			if t, err := time.Parse(time.RFC3339Nano, s.Text); err == nil {
				*p = Start{Policy: StartTime, Time: t.UTC()}
				return true, ""
			}
			if !s.Written() {
				return false, ""
			}
			return false, config.Suggest(s.Text, policies)
		},
	}
}

func (s Start) text() string {
	if s.Policy == StartTime {
		return s.Time.Format(time.RFC3339Nano)
	}
	return s.Policy
}

// separator is one ASCII character, or a tab by its name.
func separator(p *string) config.Value {
	const tab = "tab"
	return config.Single{
		Wanted: `one character such as ";", or tab`,
		Shape:  config.Shape{"anyOf": []config.Shape{{"const": tab}, {"type": "string", "maxLength": 1, "minLength": 1}}},
		Get:    func() any { return *p },
		Current: func() string {
			if *p == "\t" {
				return tab
			}
			return *p
		},
		Set: func(s config.Scalar) (bool, string) {
			if s.Text == tab {
				s.Text = "\t"
			}
			*p = s.Text
			return len(s.Text) == 1 && s.Text[0] < 0x80, ""
		},
	}
}
