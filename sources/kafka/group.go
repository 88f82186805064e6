package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// generation is the time from one rebalance of the group to the next, in which this member owns the same
// partitions.
//
// When the group wants to rebalance, which the answers to heartbeats say, lanes are told to end, commit what they have read while
// the generation is still the valid one, and only then this member joins again. Heartbeats go on meanwhile, since the brokers
// give up a silent member after the session timeout however long the rebalance may take.
//
// It ends softly by end, after which lanes commit what they have read, or hard by lose, after which they abandon it. Both may
// be called from any goroutine and any number of times.
type generation struct {
	*consumer
	member *kafkago.Generation
	cancel context.CancelCauseFunc // of every lane
	ctx    context.Context         // of every lane

	looking    sync.Mutex       // guards the next two until the lanes begin; after that they are read without it
	partitions map[string][]int // of every topic, from 0 on
	identities map[string]identity

	endOnce sync.Once
	ending  chan struct{} // closed: lanes return io.EOF

	changeOnce sync.Once
	changed    chan struct{} // closed: the topics are not what they were

	reached  atomic.Int64  // lanes that have come to their ends
	finished chan struct{} // closed: all have, in a bounded run

	failOnce sync.Once
	failed   chan struct{} // closed: err is set, and is not written again
	err      error
}

func newGeneration(ctx context.Context, r *consumer, member *kafkago.Generation) *generation {
	g := &generation{consumer: r, member: member, ending: make(chan struct{}), changed: make(chan struct{}), finished: make(chan struct{}), failed: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

// run runs the generation's lanes to their end. The result last says that no other generation is to follow;
// err is why, nil after a drain.
func (g *generation) run(drain <-chan struct{}) (last bool, err error) {
	over, end := context.WithCancel(context.Background())
	defer end()
	beats, stop := context.WithCancel(g.ctx)
	var beating sync.WaitGroup
	beating.Go(func() { g.beat(beats, end) })
	defer beating.Wait()
	defer stop()
	return g.supervise(over, drain)
}

// supervise starts the lanes, waits for a reason to end them, and then for them to have ended.
func (g *generation) supervise(over context.Context, drain <-chan struct{}) (last bool, err error) {
	defer g.cancel(nil)
	ended := g.startLanes()
	defer g.watchTopics()()
	select {
	case <-over.Done():
		g.session.log.Info("the consumer group rebalances", "generation", g.member.ID)
	case <-g.changed:
		g.session.log.Info("partitions were added, or a topic was made anew; rejoining the consumer group", "generation", g.member.ID)
	case <-g.finished:
		g.session.log.Info("every partition was read to its end; leaving the consumer group", "partitions", g.lanes())
		last, g.allDone = true, true
	case <-g.failed:
	case <-drain:
		last, err = true, kafkaconn.ErrStopped
	case <-g.ctx.Done():
		last, err = true, kafkaconn.ErrStopped
		if errors.Is(context.Cause(g.ctx), pipeline.ErrLaneLost) {
			last = false // fenced: begin anew
		}
	}
	g.end()
	// A drain is bounded by the pipeline's deadline, which cancels the lanes; everything else is bounded here.
	g.awaitLanes(over, ended, !last)
	if g.identities != nil { // what these lanes have read, for the next generation to compare with
		g.seen = g.identities
	}
	select {
	case <-g.failed:
		return true, g.err
	default:
		return last, err
	}
}

// startLanes starts a goroutine that hands out a lane for every assigned partition, once it is known what the topics are. The
// channel that it returns is closed when all lanes have ended.
func (g *generation) startLanes() <-chan struct{} {
	ended := make(chan struct{})
	g.turns.begin(g.lanes())
	g.session.log.Info("joined the consumer group", "generation", g.member.ID, "partitions", g.lanes())
	go func() {
		defer close(ended)
		var lanes sync.WaitGroup
		defer func() {
			if lanes.Wait(); g.ends != nil && int(g.reached.Load()) == g.lanes() {
				close(g.finished)
			}
		}()
		if err := g.learnTopics(); err != nil || g.isEnding() {
			g.fail(err)
			return
		}
		for topic, partitions := range g.member.Assignments {
			for _, p := range partitions {
				l := newLane(g, pipeline.LaneID{Stream: topic, Partition: int32(p.ID)}, p.Offset)
				g.session.log.Debug("assigned", "lane", l.id.String())
				lanes.Go(func() { g.runLane(l) })
			}
		}
	}()
	return ended
}

// lanes returns how many partitions this member has.
func (g *generation) lanes() int {
	n := 0
	for _, partitions := range g.member.Assignments {
		n += len(partitions)
	}
	return n
}

// runLane runs a lane to its end, and decides what its end means for the generation: nothing, a fault that ends the run, or
// the loss of all lanes. Lags and Trouble see the lane as long as it runs.
func (g *generation) runLane(l *lane) {
	if err := g.settle(l); err != nil {
		l.close()
		g.fail(err)
		return
	}
	g.source.mu.Lock()
	g.source.lanes[l] = struct{}{}
	g.source.mu.Unlock()
	err := g.each(l.ctx, l)
	l.close()
	g.source.mu.Lock()
	delete(g.source.lanes, l)
	g.source.mu.Unlock()
	if errors.Is(err, pipeline.ErrLaneLost) && g.ctx.Err() == nil && !l.g.isEnding() {
		// The sink says that another process has committed positions of this lane, and the group has not told us: it may
		// be so for all partitions of this generation. Joining anew finds out.
		g.lose(err.Error())
		return
	}
	if err == nil && l.done && g.ctx.Err() == nil {
		g.reached.Add(1)
	}
	g.fail(err)
}

// fail ends the run with an error. A lane that was lost, or stopped from outside, is no fault.
func (g *generation) fail(err error) {
	if err == nil || errors.Is(err, pipeline.ErrLaneLost) || g.ctx.Err() != nil {
		return
	}
	g.failOnce.Do(func() {
		g.err = err
		close(g.failed)
	})
}

// isEnding reports whether end was called.
func (g *generation) isEnding() bool {
	select {
	case <-g.ending:
		return true
	default:
		return false
	}
}

// end tells the lanes to end after what they have read.
func (g *generation) end() { g.endOnce.Do(func() { close(g.ending) }) }

// lose cancels the lanes with the cause [pipeline.ErrLaneLost]: their partitions belong to another member now, which reads
// again what they have not committed. It does not wait for them.
func (g *generation) lose(why string) {
	if g.ctx.Err() == nil { // said once
		g.session.log.Warn("the partitions were lost before everything was committed; it will be read again", "generation", g.member.ID, "reason", why)
	}
	g.end()
	g.cancel(pipeline.ErrLaneLost)
}

// awaitLanes waits for the lanes to end. At the deadline they are lost, and it goes on waiting until they have ended. The
// deadline counts from now if bounded is set, and else from the end of the generation, when the group begins to wait.
func (g *generation) awaitLanes(over context.Context, ended <-chan struct{}, bounded bool) {
	budget := g.drainBudget()
	timer := time.NewTimer(budget)
	defer timer.Stop()
	if !bounded {
		timer.Stop()
	}
	overDone := over.Done()
	for {
		select {
		case <-ended:
			return
		case <-overDone:
			overDone = nil // a nil channel is never ready: this happens once
			if !bounded {
				timer.Reset(budget)
			}
		case <-timer.C:
			g.lose(fmt.Sprintf("they had %v for that", budget))
		}
	}
}

// drainBudget returns how long lanes may take to commit when the group rebalances. The group waits for
// RebalanceTimeout, and a member hears of it up to a heartbeat later.
func (g *generation) drainBudget() time.Duration {
	o := g.session.opts
	return max(o.RebalanceTimeout*9/10-o.HeartbeatInterval, o.RebalanceTimeout/4)
}

// beat keeps the membership alive until ctx ends. It calls over when the group rebalances, and loses the lanes when their
// generation is over already, after a long standstill of the process for example, or when the coordinator could not be reached
// for as long as it takes to be given up.
func (g *generation) beat(ctx context.Context, over func()) {
	heard, failed := time.Now(), false
	for kafkaconn.Sleep(ctx, nil, g.session.opts.HeartbeatInterval) {
		err := g.session.heartbeat(ctx, g.member)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil || errors.Is(err, kafkago.RebalanceInProgress):
			heard = time.Now()
			if failed {
				failed = false
				g.source.trouble.end()
			}
			if err != nil {
				over()
			}
			continue
		case isFenced(err):
			if err = g.session.explain(err, 0); kafkaconn.IsFatal(err) {
				g.fail(err)
			}
			g.lose(err.Error())
			return
		}
		if err = g.session.explain(err, 0); kafkaconn.IsFatal(err) {
			g.fail(err)
			return
		}
		if failed { // connections that were idle break, and the second try makes a new one
			g.session.log.Warn("a heartbeat failed; trying again", "error", err)
			g.source.trouble.add(err)
		}
		failed = true
		if time.Since(heard) > g.session.opts.SessionTimeout {
			g.lose(fmt.Sprintf("no heartbeat for %v: %v", g.session.opts.SessionTimeout, err))
			return
		}
	}
}
