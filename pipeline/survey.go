package pipeline

import "context"

// Known is what an output has of a lane: all from Start up to Next.
type Known struct {
	Lane  LaneID
	Start int64
	Mark
	// History calls each with all commits of the lane, as [Historian] does; nil if only the last one is known.
	History func(ctx context.Context, each func(Mark) error) error
}

// Standing is what a source has of a lane, held against an output.
type Standing struct {
	Lane LaneID
	// First and End bound the positions that the source has now, End exclusive; [Unknown] where it cannot tell.
	First, End int64
	Findings   []Finding
}

// Finding is a difference between a source and an output. First and Next are the positions that it is about, Next
// exclusive; [Unknown] where it is about the lane.
type Finding struct {
	Kind        FindingKind
	First, Next int64
	Message     string // what it means, and what to do about it
}

// FindingKind is a kind of [Finding]. Its text is stable.
type FindingKind string

// What can be found.
const (
	// Unread is there and was not read yet. A pipeline that runs has some at any time.
	Unread FindingKind = "unread"
	// BeforeStart is there, and the output begins behind it: a start policy has left it out.
	BeforeStart FindingKind = "before_start"
	// NeverRead is there no more and was never read.
	NeverRead FindingKind = "never_read"
	// TailGone was delivered, as the source has been told, and the output has no record of it.
	TailGone FindingKind = "tail_gone"
	// BehindEnd are positions of the output behind the end of what the source has.
	BehindEnd FindingKind = "behind_end"
	// OtherSource says that the positions of the output are of something else.
	OtherSource FindingKind = "other_source"
	// NoSource says that the source has nothing of the lane any more, so that nothing can be told.
	NoSource FindingKind = "no_source"
)

// Problem reports whether an output is not as it should be. Other findings are in the nature of things.
func (k FindingKind) Problem() bool {
	switch k {
	case NeverRead, TailGone, BehindEnd, OtherSource:
		return true
	default:
		return false
	}
}

// Hold holds an output against the positions from first up to end that a source has. of is the identity of the source, ""
// if it has none, and acknowledged what it has been told is durable, [Unknown] if nothing. k is nil for a lane that the output
// does not have.
func Hold(k *Known, first, end int64, of string, acknowledged int64) []Finding {
	var found []Finding
	note := func(kind FindingKind, first, next int64, message string) {
		if next > first || kind == OtherSource {
			found = append(found, Finding{kind, first, next, message})
		}
	}
	next := first
	if k != nil {
		if of != "" && k.Of != "" && of != k.Of {
			note(OtherSource, Unknown, Unknown, "the output has positions of "+k.Of+", and the source is "+of+
				" now: it was made anew, or is another one; positions of the two cannot be held against each other")
			return found
		}
		note(BeforeStart, first, k.Start, "is before the position at which the output begins")
		note(NeverRead, max(k.Next, k.Start), first, "was never read and is gone from the source: retention was faster")
		note(BehindEnd, end, k.Next, "is in the output and behind the end of the source: the source has lost records, or is another one")
		next = max(k.Next, first)
	}
	if acknowledged > next {
		note(TailGone, next, min(acknowledged, max(end, next)), "was delivered, as the source was told, and no commit record tells of it: "+
			"the last records of the output are gone; restore them, or read again what is missing")
		next = max(next, acknowledged)
	}
	note(Unread, next, end, "was not read yet")
	return found
}
