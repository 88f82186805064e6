package file

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// noticeKind begins the names of claims that have the keys of objects for the process that reads a lane.
const noticeKind = "notice"

// away is a key of another process's lane.
type away struct {
	of  *notice
	key string
}

// forward hands a key on to the process that reads its lane, with the next call of tidy.
func (n *notices) forward(m *notice, slot int, key string) {
	if n.r.claims == nil || m.message == nil {
		n.done(m, others)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away[slot] = append(n.away[slot], away{m, key})
}

// handOn makes a claim in the output of the keys for each lane of other processes. Their messages can be deleted then.
func (n *notices) handOn(ctx context.Context) {
	n.mu.Lock()
	all := n.away
	n.away = [objectLanes][]away{}
	n.mu.Unlock()
	for slot, some := range all {
		if len(some) == 0 {
			continue
		}
		keys := make([]string, 0, len(some))
		for _, a := range some {
			keys = append(keys, a.key)
		}
		n.number++
		content, err := json.Marshal(keys)
		if err == nil {
			err = n.r.claims.Create(ctx, fmt.Sprintf("%s-%d-%s-%d", noticeKind, slot+1, n.r.claims.Self(), n.number), string(content))
		}
		what := durable
		if err != nil {
			what = later
			n.r.log.Warn("cannot hand notifications on to the process that reads their objects; they come again", "bucket", n.r.root, "error", err)
		} else {
			n.counts.forwarded.Add(int64(len(some)))
		}
		for _, a := range some {
			n.done(a.of, what)
		}
	}
}

// adopt takes the keys that other processes have left for the lanes of this one. names are those of all claims.
func (n *notices) adopt(ctx context.Context, names []string, own func(slot int) bool) {
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, noticeKind+"-")
		lane, _, _ := strings.Cut(rest, "-")
		slot, valid := slotOf(lane)
		if !ok || !valid || !own(slot) || !n.adopted(name) {
			continue
		}
		content, err := n.r.claims.Read(ctx, name)
		var keys []string
		if err == nil {
			err = json.Unmarshal([]byte(content), &keys)
		}
		if err != nil { // it is gone, or comes again with the next look
			n.mu.Lock()
			delete(n.claims, name)
			n.mu.Unlock()
			continue
		}
		n.take(ctx, &notice{claim: name}, keys)
	}
}

// adopted notes that a claim is in hand, and reports false if it is already.
func (n *notices) adopted(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claims[name] {
		return false
	}
	n.claims[name] = true
	return true
}
