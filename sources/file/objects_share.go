package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

const (
	// beatsInTTL is how many beats a process has in the time after which it counts as dead.
	beatsInTTL = 3
	// looksInTTL is how often a process looks at the claims in that time while it has fewer lanes than its share.
	looksInTTL = 12
	// leaveTimeout bounds what a process does about its claims in the end.
	leaveTimeout = 10 * time.Second
)

// Kinds of claims, with which their names begin.
const (
	beatKind = "process"
	laneKind = "lane"
)

// What a claim on a lane says; the name of the process that says it is behind.
const (
	isHeld = "held" // the process reads the lane
	isFree = "free" // it does not any more
	isRead = "read" // nor need others do so: it has read the lane to its end
)

// sharing divides the lanes of a bucket among the processes that read it into the same output, by claims beside the commits there:
//
//	process-1a2b3c4d-12   the process lives; it creates the next number, and deletes the one before
//	lane-7-3              who has lane 7; the highest number counts
//
// Claim N+1 of a lane is created by its owner, to give the lane up, and by another process when claim N says that nobody has the lane,
// or when its owner has had no new beat for ttl. Each process measures that with its own clock, from when it saw the last beat: clocks
// are not compared. Of several processes that create the same number, one succeeds.
//
// Claims save work, and prove nothing. A process that was paused goes on with lanes that others have taken over, and when answers are
// lost two may have the same one. Then both read the same objects, the chain of the output has one of them commit, and the other
// one throws away what it has read since its last commit. So nothing here has to be safe. It has to be cheap, and right in most cases.
//
// All fields but adopting belong to the goroutine of run.
type sharing struct {
	r      *running
	claims pipeline.Claims
	self   string
	ttl    time.Duration
	log    *slog.Logger
	ended  chan endedLane // has room for all lanes

	beats  int64     // the number of the last beat, 0 before the first
	beaten time.Time // when that was
	joined bool      // the claims were looked at once
	peers  map[string]*peer
	last   [objectLanes]claim
	own    [objectLanes]*objectLane // that run
	said   string                   // about the share, last

	adopting atomic.Bool // notices of others
}

// peer is another process.
type peer struct {
	beat  int64     // the last one, 0 if none was seen
	since time.Time // when it was seen first
	there bool      // it has a beat now
}

// claim is the last claim on a lane.
type claim struct {
	number int64
	state  string
	owner  string
}

type endedLane struct {
	slot int
	read bool // to its end
}

func newSharing(r *running) *sharing {
	return &sharing{
		r: r, claims: r.claims, self: r.claims.Self(), ttl: r.o.ClaimTTL, log: r.log.With("bucket", r.root),
		ended: make(chan endedLane, objectLanes), peers: map[string]*peer{},
	}
}

// run shares the lanes until the run ends. It closes over when all of them were read to their end and no new objects are waited for.
func (g *sharing) run(over chan<- struct{}) {
	defer g.leave()
	for {
		short, err := g.turn()
		switch {
		case err != nil && g.r.ctx.Err() != nil:
			return
		case err != nil && !g.joined:
			g.r.fail(fmt.Errorf("cannot write into the output which objects of %s this process reads, so as to share them "+
				"(source.file.shard: auto): %w", g.r.root, err))
			return
		case err != nil:
			g.log.Warn("cannot renew the claims on objects; trying again, and others may take them over", "error", err)
		}
		g.joined = g.joined || err == nil
		if !g.rest(short, over) {
			return
		}
	}
}

// rest waits until the next turn, and gives up lanes that end. It reports whether there is another turn.
func (g *sharing) rest(short bool, over chan<- struct{}) bool {
	every := g.ttl / beatsInTTL
	if short {
		every = g.ttl / looksInTTL
	}
	turn := time.After(every)
	for {
		if !slices.ContainsFunc(g.last[:], func(c claim) bool { return c.state != isRead }) {
			close(over)
			return false
		}
		select {
		case e := <-g.ended:
			g.release(g.r.ctx, e)
		case <-turn:
			return true
		case <-g.r.drain:
			return false
		case <-g.r.ctx.Done():
			return false
		}
	}
}

// leave waits for the lanes to end, and gives them up, so that others need not wait for ttl.
func (g *sharing) leave() {
	for _, l := range g.own {
		if l == nil {
			continue
		}
		e := <-g.ended
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.r.ctx), leaveTimeout)
		g.release(ctx, e)
		cancel()
	}
	if g.beats > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.r.ctx), leaveTimeout)
		defer cancel()
		_ = g.claims.Delete(ctx, beatName(g.self, g.beats)) // others find out after ttl
	}
}

// turn renews the claims, looks at those of others, and takes and gives up lanes. It reports whether this process has fewer lanes
// than its share.
func (g *sharing) turn() (short bool, err error) {
	if err := g.beat(); err != nil {
		return false, err
	}
	if err := g.look(); err != nil {
		return false, err
	}
	return g.divide(time.Now())
}

// beat creates the next beat when its time has come.
func (g *sharing) beat() error {
	now := time.Now()
	if g.beats > 0 && now.Sub(g.beaten) < g.ttl/beatsInTTL {
		return nil
	}
	err := g.claims.Create(g.r.ctx, beatName(g.self, g.beats+1), "")
	if err != nil && !errors.Is(err, fs.ErrExist) { // it is there when the answer was lost the last time
		return err
	}
	g.beats, g.beaten = g.beats+1, now
	if g.beats == 1 {
		return nil
	}
	return g.claims.Delete(g.r.ctx, beatName(g.self, g.beats-1))
}

// look reads the claims of all processes.
func (g *sharing) look() error {
	names, err := g.claims.Names(g.r.ctx)
	if err != nil {
		return err
	}
	g.adopt(names)
	now := time.Now()
	for _, p := range g.peers {
		p.there = false
	}
	var newest [objectLanes]int64
	for _, name := range names {
		switch kind, of, n := cutClaim(name); {
		case kind == beatKind && of != g.self:
			g.peer(of, now).seen(n, now)
		case kind == laneKind:
			slot, _ := slotOf(of)
			newest[slot] = max(newest[slot], n)
		}
	}
	for slot, n := range newest {
		if n > g.last[slot].number {
			if err := g.read(slot, n, now); err != nil {
				return err
			}
		}
	}
	return g.tidy(names, now)
}

// adopt takes what other processes have heard about objects of the lanes of this one.
func (g *sharing) adopt(names []string) {
	n := g.r.notices.Load()
	if n == nil || !g.adopting.CompareAndSwap(false, true) {
		return
	}
	var own [objectLanes]bool
	for slot, l := range g.own {
		own[slot] = l != nil
	}
	g.r.group.Go(func() { // it may have to wait for a lane to start
		defer g.adopting.Store(false)
		n.adopt(g.r.ctx, names, func(slot int) bool { return own[slot] })
	})
}

// read reads the claim N of a lane.
func (g *sharing) read(slot int, n int64, now time.Time) error {
	content, err := g.claims.Read(g.r.ctx, claimName(slot, n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is a newer one by now, which the next look finds
	}
	if err != nil {
		return err
	}
	state, owner, _ := strings.Cut(content, " ")
	if state == isRead && (!g.joined || g.r.follow) {
		state = isFree // it was read before this process began, and there may be new objects
	}
	if g.last[slot] = (claim{n, state, owner}); owner != g.self {
		g.peer(owner, now)
	}
	return nil
}

// tidy removes what dead processes have left.
func (g *sharing) tidy(names []string, now time.Time) error {
	for _, name := range names {
		kind, of, n := cutClaim(name)
		old := kind == beatKind && (of == g.self && n < g.beats || !g.lives(of, now))
		if slot, ok := slotOf(of); kind == laneKind && ok {
			old = n < g.last[slot].number && g.last[slot].owner == g.self
		}
		if !old {
			continue
		}
		if err := g.claims.Delete(g.r.ctx, name); err != nil {
			return err
		}
	}
	maps.DeleteFunc(g.peers, func(id string, p *peer) bool {
		return !p.there && !g.lives(id, now) && !slices.ContainsFunc(g.last[:], func(c claim) bool { return c.owner == id })
	})
	return nil
}

// peer returns what is known of another process, of which something was seen now.
func (g *sharing) peer(id string, now time.Time) *peer {
	if g.peers[id] == nil {
		g.peers[id] = &peer{since: now}
	}
	return g.peers[id]
}

func (p *peer) seen(beat int64, now time.Time) {
	if p.there = true; beat > p.beat {
		p.beat, p.since = beat, now
	}
}

// lives reports whether a process counts as alive.
func (g *sharing) lives(id string, now time.Time) bool {
	return id == g.self || g.peers[id] != nil && now.Sub(g.peers[id].since) <= g.ttl
}

// divide takes and gives up lanes, and reports whether this process has fewer than its share then. Lanes that were read to their end
// are no part of it.
func (g *sharing) divide(now time.Time) (short bool, err error) {
	has := map[string]int{g.self: 0} // processes that live, and how many lanes each has
	for id, p := range g.peers {
		if p.there && g.lives(id, now) {
			has[id] = 0
		}
	}
	var mine, others []int // slots, and of the others those that may be taken
	open := 0
	for slot, c := range g.last {
		if l := g.own[slot]; l != nil && (c.state != isHeld || c.owner != g.self) {
			l.lose(pipeline.ErrLaneLost) // another process has taken it over
		}
		if c.state == isRead {
			continue
		}
		switch open++; {
		case c.state != isHeld || !g.lives(c.owner, now):
			others = append(others, slot)
		case c.owner == g.self:
			mine = append(mine, slot)
			fallthrough
		default:
			has[c.owner]++
		}
	}
	share := fairShare(has, g.self, open)
	g.say(share, len(has))
	if err := g.keep(mine, share); err != nil {
		return false, err
	}
	var taken []int
	for _, slot := range others {
		if err != nil || len(mine)+len(taken) >= share {
			break
		}
		if g.own[slot] != nil {
			continue // it has been lost, and ends
		}
		var ok bool
		if ok, err = g.claim(g.r.ctx, slot, isHeld); ok {
			taken = append(taken, slot)
		}
	}
	for _, slot := range taken { // together: each look at everything is for those that have begun
		g.begin(slot)
	}
	return len(mine)+len(taken) < share, err
}

// fairShare returns how many of all lanes a process is to have. Of those that are left when all have the same, those that have most
// get one more: so no lane moves that need not.
func fairShare(has map[string]int, self string, lanes int) int {
	ids := slices.SortedFunc(maps.Keys(has), func(a, b string) int {
		return cmp.Or(cmp.Compare(has[b], has[a]), cmp.Compare(a, b))
	})
	share := lanes / len(ids)
	if slices.Index(ids, self) < lanes%len(ids) {
		share++
	}
	return share
}

// keep goes on with the first lanes of those that this process has, and gives up the others.
func (g *sharing) keep(mine []int, share int) error {
	for i, slot := range mine {
		l := g.own[slot]
		switch {
		case i < share && l == nil: // something went wrong when it was taken, or was to be given up
			g.begin(slot)
		case i < share:
		case l != nil:
			l.stop() // it commits, ends, and is given up then
		default:
			if _, err := g.claim(g.r.ctx, slot, isFree); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *sharing) begin(slot int) {
	g.own[slot] = g.r.begin(slot, func(read bool) { g.ended <- endedLane{slot, read} })
}

// release gives up a lane that has ended, unless another process has it.
func (g *sharing) release(ctx context.Context, e endedLane) {
	g.own[e.slot] = nil
	if c := g.last[e.slot]; c.state != isHeld || c.owner != g.self {
		return
	}
	state := isFree
	if e.read {
		state = isRead
	}
	if _, err := g.claim(ctx, e.slot, state); err != nil { // the next turn begins the lane anew
		g.log.Warn("cannot give up the claim on a part of the objects; others take it over later", "error", err)
	}
}

// claim creates the next claim on a lane, and reports false if another process has done so first.
func (g *sharing) claim(ctx context.Context, slot int, state string) (bool, error) {
	before := g.last[slot].number
	err := g.claims.Create(ctx, claimName(slot, before+1), state+" "+g.self)
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if g.last[slot] = (claim{before + 1, state, g.self}); before == 0 {
		return true, nil
	}
	return true, g.claims.Delete(ctx, claimName(slot, before))
}

// say logs the share when it changes.
func (g *sharing) say(share, processes int) {
	if text := fmt.Sprint(share, processes); text != g.said {
		g.said = text
		g.log.Info("sharing the objects with other processes", "lanes", share, "processes", processes)
	}
}

func beatName(process string, n int64) string { return fmt.Sprintf("%s-%s-%d", beatKind, process, n) }

func claimName(slot int, n int64) string { return fmt.Sprintf("%s-%d-%d", laneKind, slot+1, n) }

// cutClaim returns the parts of the name of a claim; kind is "" for names of others.
func cutClaim(name string) (kind, of string, n int64) {
	kind, rest, _ := strings.Cut(name, "-")
	at := strings.LastIndexByte(rest, '-')
	if at < 0 {
		return "", "", 0
	}
	n, err := strconv.ParseInt(rest[at+1:], 10, 64)
	if _, ok := slotOf(rest[:at]); err != nil || kind != beatKind && (kind != laneKind || !ok) {
		return "", "", 0
	}
	return kind, rest[:at], n
}

// slotOf returns the slot of a lane that is named by its number.
func slotOf(number string) (slot int, ok bool) {
	n, err := strconv.Atoi(number)
	return n - 1, err == nil && n > 0 && n <= objectLanes
}
