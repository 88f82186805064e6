package scan

// Variant is an implementation of the kernels.
type Variant uint8

// The variants.
const (
	Generic Variant = iota // pure Go
	AVX2
	AVX512
	NEON
)

// String returns the variant's name.
func (v Variant) String() string { return [...]string{"generic", "avx2", "avx512", "neon"}[v] }

// current is the variant in use.
var current = best()

// Current returns the variant in use.
func Current() Variant { return current }

// Variants returns those that this CPU can run, the best of them last. The caller owns the slice.
func Variants() []Variant {
	all := []Variant{Generic}
	if best() == NEON {
		return append(all, NEON)
	}
	for v := AVX2; v <= best(); v++ {
		all = append(all, v)
	}
	return all
}

// Use switches to a variant, which must be one of [Variants], and returns the one in use before. It is meant for
// tests and must not run at the same time as anything else of this package.
func Use(v Variant) (before Variant) {
	before, current = current, v
	return before
}

// Bitmapped reports whether the variant in use makes bitmaps faster than a loop over bytes with a table finds what it
// looks for.
func Bitmapped() bool { return current != Generic }
