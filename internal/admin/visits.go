package admin

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// maxNames bounds the names of a column that are counted: the rules for channels are the user's. Those that come later count as
// otherNames.
const (
	maxNames   = 64
	otherNames = "(other)"
)

// names counts the values of a column of few values.
type names struct {
	counts map[string]int64
}

// add adds what countNames has counted. The caller holds the lock of the monitor.
func (n *names) add(batch map[string]int64) {
	if n.counts == nil {
		n.counts = make(map[string]int64)
	}
	for name, count := range batch {
		if _, known := n.counts[name]; !known {
			if len(n.counts) >= maxNames {
				name = otherNames
			}
			name = clip(name, maxText) // its bytes are the batch's
		}
		n.counts[name] += count
	}
}

// countVisits counts the channels and the bots of a batch; the columns are nil where there are none.
func (m *Monitor) countVisits(channels, bots texts) {
	for _, c := range []struct {
		column texts
		names  *names
	}{{channels, &m.channels}, {bots, &m.bots}} {
		if c.column != nil {
			counts := countNames(c.column) // before the lock, which all lanes share
			m.mu.Lock()
			c.names.add(counts)
			m.mu.Unlock()
		}
	}
}

// countNames counts the values of a column, nulls left out. Their texts are the batch's.
func countNames(column texts) map[string]int64 {
	counts := make(map[string]int64)
	last, run := "", int64(0)
	for i := range column.Len() {
		if column.IsNull(i) {
			continue
		}
		if name := column.Value(i); name != last {
			counts[last] += run
			last, run = name, 0
		}
		run++
	}
	counts[last] += run
	delete(counts, "") // of rows without a value
	return counts
}

// shares returns the share of each name in a total, the most first; nil if nothing was counted.
func (n *names) shares(total int64) []Share {
	if total == 0 || len(n.counts) == 0 {
		return nil
	}
	t := topK{counts: make(map[string]*int64, len(n.counts)), total: total}
	for name, count := range n.counts {
		t.counts[name] = &count
	}
	return t.top(shownDomains)
}

// total returns how many values were counted.
func (n *names) total() (sum int64) {
	for _, count := range n.counts {
		sum += count
	}
	return sum
}

// collectVisits sends how many rows have each channel and each class of bots.
func (m *Monitor) collectVisits(out series) {
	m.mu.Lock()
	channels, bots := maps.Clone(m.channels.counts), maps.Clone(m.bots.counts)
	m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(channels)) {
		out.send(prometheus.CounterValue, "channel_rows_total", "Rows by their channel; a row that goes on with a visit has none.", float64(channels[name]), prometheus.Labels{"channel": name})
	}
	for _, name := range slices.Sorted(maps.Keys(bots)) {
		out.send(prometheus.CounterValue, "bot_rows_total", "Rows of bots, by what the bot is for.", float64(bots[name]), prometheus.Labels{"bot": name})
	}
}
