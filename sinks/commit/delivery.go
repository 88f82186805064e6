package commit

import "github.com/urlmill/urlmill/pipeline"

// Delivery is what a sink promises.
type Delivery string

// The promises. Each includes that nothing is lost.
const (
	// ExactlyOnce has every position in the output once: the sink keeps the positions.
	ExactlyOnce Delivery = "exactly_once"
	// AtLeastOnce may have positions in it twice after a crash: if positions are kept at all, the source keeps them.
	AtLeastOnce Delivery = "at_least_once"
)

// Check returns an error for what is neither.
func (d Delivery) Check() error {
	if d != ExactlyOnce && d != AtLeastOnce {
		return pipeline.ValueErrorf("delivery", d, "is not known").Advise("use %s or %s", ExactlyOnce, AtLeastOnce)
	}
	return nil
}
