package commit

import (
	"fmt"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// FencedError says that another process has committed positions of a lane that this one was about to commit. Its
// work was dropped; the lane goes on after what the other has committed. It is of the kind [pipeline.ErrLaneLost].
type FencedError struct {
	Lane     pipeline.LaneID
	Position int64 // that was to be committed from
	// Run and Time are those of the other commit, if it is still there.
	Run  string
	Time time.Time
}

func (e *FencedError) Error() string {
	by := "another process"
	if e.Run != "" {
		by = fmt.Sprintf("the process %s at %s", e.Run, e.Time.Format(time.RFC3339))
	}
	return fmt.Sprintf("%s: position %d was committed by %s, so that what this process has from there on is dropped",
		e.Lane, e.Position, by)
}

// Unwrap returns [pipeline.ErrLaneLost].
func (e *FencedError) Unwrap() error { return pipeline.ErrLaneLost }
