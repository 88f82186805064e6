package privacy

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
)

// Keys are the keys of hashes, by the time from which on each of them counts.
type Keys struct{ all []datedKey }

type datedKey struct {
	from time.Time
	key  config.Secret
}

// leastKey is how long a key is at least: 128 bits, if its characters are random bytes, and more than can be guessed otherwise.
const leastKey = 16

// ParseKeys reads a file of keys: lines of a date, as 2026-11-23 or in RFC 3339, and a key. What begins with # is a comment. An error
// names the line, and never the key.
func ParseKeys(text []byte) (*Keys, error) {
	k := new(Keys)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		date, key, _ := strings.Cut(line, " ")
		key = strings.TrimSpace(key)
		from, err := time.Parse(time.DateOnly, date)
		if err != nil {
			from, err = time.Parse(time.RFC3339, date)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d does not begin with a date; give one such as 2026-11-23, and a key behind it", n)
		}
		if len(key) < leastKey {
			return nil, fmt.Errorf("the key in line %d has %d characters; give at least %d", n, len(key), leastKey)
		}
		k.all = append(k.all, datedKey{from, config.Secret(key)})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(k.all) == 0 {
		return nil, fmt.Errorf("it has no key; give a line such as 2026-11-23 and 16 random characters or more")
	}
	slices.SortStableFunc(k.all, func(a, b datedKey) int { return a.from.Compare(b.from) })
	return k, nil
}

// at returns the key that counts at a time: the last that has begun, and the first before all have.
func (k *Keys) at(now time.Time) config.Secret {
	key := k.all[0].key
	for _, d := range k.all {
		if d.from.After(now) {
			break
		}
		key = d.key
	}
	return key
}

// Version says which keys there are, and nothing of what they are.
func (k *Keys) Version() string {
	if k == nil {
		return "none"
	}
	return fmt.Sprintf("%d, the last from %s", len(k.all), k.all[len(k.all)-1].from.Format(time.RFC3339))
}

// Equal reports whether the keys are the same.
func (k *Keys) Equal(other *Keys) bool {
	return k == other || k != nil && other != nil && slices.EqualFunc(k.all, other.all, func(a, b datedKey) bool {
		return a.from.Equal(b.from) && a.key == b.key
	})
}

// at returns the path of an item of a list.
func at(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }
