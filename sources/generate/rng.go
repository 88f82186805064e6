package generate

import "math"

// rng is a small generator of random numbers (SplitMix64). Every record has its own, seeded by its number, so that
// a record can be made without those before it.
type rng struct{ state uint64 }

// newRNG returns the generator of stream n under a seed that is well mixed.
func newRNG(seed, n uint64) rng { return rng{seed + mix(n^0x5851f42d4c957f2d)} }

// mix scatters a number over all 64 bits; it is a bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *rng) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return mix(r.state)
}

// below returns a number from 0 to n-1.
func (r *rng) below(n int) int { return int(r.next() >> 32 * uint64(n) >> 32) }

// between returns a number from lo to hi.
func (r *rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// percent is true in p of 100 cases.
func (r *rng) percent(p int) bool { return r.below(100) < p }

// pick returns one of the values, all equally often.
func pick[T any](r *rng, values []T) T { return values[r.below(len(values))] }

// alias draws numbers with given weights in constant time (Walker's alias method): a column is drawn evenly, and
// then either its own number or the one that fills it up.
type alias struct {
	own   []uint32 // share of the column that is its own number, of 2^32
	other []uint32
}

// newAlias takes weights that are not negative and not all zero.
func newAlias(weights []float64) alias {
	n := len(weights)
	a := alias{make([]uint32, n), make([]uint32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	scaled := make([]float64, n)
	var small, large []int
	for i, w := range weights {
		scaled[i] = w * float64(n) / sum
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.own[s], a.other[s] = uint32(scaled[s]*(1<<32)), uint32(l)
		if scaled[l] -= 1 - scaled[s]; scaled[l] < 1 {
			small, large = append(small, l), large[:len(large)-1]
		}
	}
	for _, i := range append(small, large...) { // full, but for rounding
		a.own[i], a.other[i] = math.MaxUint32, uint32(i)
	}
	return a
}

// draw returns a number from 0 to the number of weights.
func (a *alias) draw(r *rng) int {
	x := r.next()
	i := x >> 32 * uint64(len(a.own)) >> 32
	if uint32(x) < a.own[i] {
		return int(i)
	}
	return int(a.other[i])
}

// zipf returns the weights of n ranks: 1/1^s, 1/2^s, …
func zipf(n int, s float64) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -s)
	}
	return weights
}
