package codec

import "context"

// Resolver is a codec that needs something from elsewhere to take a record apart, such as its schema from a registry. It
// is optional; a source whose records may wait asks for it.
type Resolver interface {
	// Resolved reports whether record can be taken apart without waiting. It costs next to nothing.
	Resolved(record []byte) bool
	// Resolve gets what record needs, and does not keep it. The error says that it is not to be had for now: the source
	// tries again later, and does not go on without it. What elsewhere does not know at all is no error here, but a
	// fault of the record.
	Resolve(ctx context.Context, record []byte) error
}
