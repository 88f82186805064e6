package kafka

import (
	"context"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// learnTopics finds out the identities and partitions of the topics. It tries as long as the generation lasts, unless one of
// the assigned topics is gone for longer than TopicTimeout.
func (g *generation) learnTopics() error {
	err := g.session.retry(g.ctx, g.ending, func(ctx context.Context) error {
		partitions, identities, err := g.session.identify(ctx)
		for topic := range g.member.Assignments {
			if _, there := partitions[topic]; err == nil && !there {
				err = fmt.Errorf("topic %q: %w", topic, kafkago.UnknownTopicOrPartition)
			}
		}
		if err == nil {
			g.learned(partitions, identities)
		}
		return err
	}, "the brokers do not tell what the topics are")
	if err != nil && !kafkaconn.IsFatal(err) {
		return pipeline.ErrLaneLost // the generation is over
	}
	return err
}

// learned keeps what learnTopics has found, for the lanes and, since fetches name topics by their IDs, for the session.
func (g *generation) learned(partitions layout, identities map[string]identity) {
	g.looking.Lock()
	defer g.looking.Unlock()
	g.identities, g.partitions = identities, make(map[string][]int)
	g.session.identities.Store(&identities)
	for topic, n := range partitions {
		for p := range n {
			g.partitions[topic] = append(g.partitions[topic], p)
		}
	}
}

// settle compares the topic that there is with the one whose positions the sink has or, where it has none, with the one that
// this process has read so far. For a lane of another topic it follows OnRecreated: an error, or a start with the first
// record. It is called before the lane is handed out, since the session that it may give to the lane's ID is part of what
// the pipeline opens the sink's writer by.
func (g *generation) settle(l *lane) error {
	now, was := g.identities[l.id.Stream], g.seen[l.id.Stream]
	m := pipeline.Mark{Next: pipeline.Unknown}
	if g.source.positions != nil {
		var err error
		if m, err = g.source.positions.Position(l.ctx, l.id); err != nil {
			return err
		}
	}
	if m.Next >= 0 {
		was = parseIdentity(m.Of)
	}
	if was.same(now) {
		l.of = now.or(was).String()
		return nil
	}
	l.of, l.anew = now.String(), true
	restart, err := g.session.opts.OnRecreated == PolicyRestart, error(nil)
	if m.Next >= 0 {
		if !restart { // a topic that was restarted once goes on, also when the policy is stop again
			restart, err = l.sinkKnows(l.ctx, now.session(), g.partitions[l.id.Stream])
		}
		l.id.Session = now.session()
	}
	switch {
	case err != nil:
		return err
	case !restart:
		return &RecreatedError{Lane: l.id, Was: was.String(), Now: now.String(), Position: m.Next}
	}
	g.session.log.Warn("the topic is another one than before; it has positions of its own, from its first record on",
		"lane", l.id.String(), "was", was.String(), "now", now.String(), "session", l.id.Session)
	return nil
}

// watchTopics looks at the topics every partitionWatchInterval, until stop is called, the generation ends, or they have
// changed. stop waits for a look that has begun.
func (g *generation) watchTopics() (stop func()) {
	ctx, cancel := context.WithCancel(g.ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		named := g.session.opts.InstanceID != ""
		for kafkaconn.Sleep(ctx, g.ending, g.source.watch) && !g.look(ctx) {
			if named && g.lookForUnassigned(ctx) {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-finished
	}
}

// lookForUnassigned reports whether partitions belong to no member. Then the generation ends, and the next one is another
// generation for all members.
func (g *generation) lookForUnassigned(ctx context.Context) bool {
	g.looking.Lock()
	partitions := g.partitions
	g.looking.Unlock()
	missing, err := g.session.unassigned(ctx, partitions)
	if err != nil || !missing {
		return false // heartbeats say what is wrong
	}
	g.changeOnce.Do(func() {
		g.anew = true
		close(g.changed)
	})
	return true
}

// look reports whether topics have more partitions than they had, or are others than the lanes read: then the generation ends,
// and the next one finds out what is to be done.
func (g *generation) look(ctx context.Context) bool {
	partitions, identities, err := g.session.identify(ctx)
	if err != nil {
		return false // the fetches of the lanes say what is wrong
	}
	g.looking.Lock()
	defer g.looking.Unlock()
	changed := g.known.grownTo(partitions)
	for topic, now := range identities {
		changed = changed || !now.same(g.identities[topic])
	}
	if changed {
		g.changeOnce.Do(func() {
			g.known = partitions
			close(g.changed)
		})
	}
	return changed
}
