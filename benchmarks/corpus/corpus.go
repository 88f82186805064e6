// Package corpus generates lists of URLs for benchmarks and large tests, from a seed: the same seed gives the
// same list on every machine.
//
// What a kind of list looks like was fitted to two figures that are known of real ones, the mean length and
// the share of URLs with a query: 45 bytes and 5 % for lists of web pages, 132 bytes and 42 % for requests
// of browsers. A third kind is fitted to nothing: it differs from both where they are alike, and was written after the
// engine was tuned. The shapes below them (labels of hosts, popularity of hosts and suffixes, depth of paths, number and
// length of parameters, share of escapes) are set by hand to what is common in such lists; TestFit keeps all of
// them where they are.
package corpus

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Kind is a kind of list.
type Kind string

// The kinds of lists.
const (
	// Web is a list of web pages: mostly short, clean, few queries.
	Web Kind = "web"
	// Browser is a log of requests of browsers: longer paths, many queries with escapes.
	Browser Kind = "browser"
	// WebDirty and BrowserDirty are the same with one row in ten in need of a change by the parser, or no URL.
	WebDirty     Kind = "web-dirty"
	BrowserDirty Kind = "browser-dirty"
	// Unseen is a mix of calls of APIs, files on content delivery networks and beacons: a shape that the engine was not
	// tuned with, and is not to be.
	Unseen Kind = "unseen"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Web, Browser, Unseen, WebDirty, BrowserDirty} }

// dirtyShare is the share of rows of the dirty kinds that are spoiled.
const dirtyShare = 0.1

// Generate returns n URLs. It panics for an unknown kind.
func Generate(kind Kind, n int, seed uint64) []string {
	g := newGenerator(seed)
	make1 := g.webURL
	switch kind {
	case Web, WebDirty:
	case Browser, BrowserDirty:
		make1 = g.browserURL
	case Unseen:
		make1 = g.unseenURL
	default:
		panic("corpus: unknown kind " + string(kind))
	}
	dirty := kind == WebDirty || kind == BrowserDirty
	urls := make([]string, n)
	for i := range urls {
		urls[i] = make1()
		if dirty && g.chance(dirtyShare) {
			urls[i] = g.spoil(urls[i])
		}
	}
	return urls
}

// generator makes URLs.
type generator struct {
	*rand.Rand
	hosts []string
	cdf   []float64 // of the popularity of hosts
}

// numHosts and zipfExponent give the popularity of hosts: the most popular one has about 2 % of the rows and
// half of the hosts appear once or twice in a million.
const (
	numHosts     = 60000
	zipfExponent = 0.85
)

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x75726C6D696C6C))}
	g.hosts = make([]string, numHosts)
	g.cdf = make([]float64, numHosts)
	sum := 0.0
	for i := range g.hosts {
		g.hosts[i] = g.newHost()
		sum += math.Pow(float64(i+1), -zipfExponent)
		g.cdf[i] = sum
	}
	return g
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// pick returns one of the items.
func pick[T any](g *generator, items []T) T { return items[g.IntN(len(items))] }

// host returns a host by popularity.
func (g *generator) host() string {
	x := g.Float64() * g.cdf[len(g.cdf)-1]
	low, high := 0, len(g.cdf)-1
	for low < high {
		if mid := (low + high) / 2; g.cdf[mid] < x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return g.hosts[low]
}

// weighted is an item and its weight in a choice.
type weighted struct {
	text   string
	weight int
}

func (g *generator) weighted(items []weighted) string {
	sum := 0
	for _, it := range items {
		sum += it.weight
	}
	n := g.IntN(sum)
	for _, it := range items {
		if n -= it.weight; n < 0 {
			return it.text
		}
	}
	return ""
}

// newHost makes a host.
func (g *generator) newHost() string {
	name := g.word() + pick(g, []string{"", "", "", g.word(), "-" + g.word(), strconv.Itoa(g.IntN(1000))})
	sub := g.weighted([]weighted{{"www.", 52}, {"", 26}, {"en.", 2}, {"blog.", 3}, {"m.", 2}, {"shop.", 2}, {"*", 10}, {"*.*", 3}})
	sub = strings.Replace(sub, "*.*", g.word()+"."+g.word()+".", 1)
	sub = strings.Replace(sub, "*", g.word()+".", 1)
	return sub + name + "." + g.weighted(suffixes)
}

// suffixes are what hosts end with, about as often as in large lists of web pages.
var suffixes = []weighted{
	{"com", 480},
	{"org", 75},
	{"net", 50},
	{"de", 50},
	{"ru", 35},
	{"co.uk", 28},
	{"fr", 22},
	{"it", 20},
	{"nl", 18},
	{"pl", 17},
	{"co.jp", 16},
	{"com.br", 16},
	{"jp", 14},
	{"info", 12},
	{"es", 12},
	{"cz", 10},
	{"eu", 10},
	{"com.au", 10},
	{"ca", 9},
	{"edu", 8},
	{"in", 8},
	{"io", 8},
	{"ch", 7},
	{"se", 7},
	{"blogspot.com", 7},
	{"github.io", 6},
	{"be", 6},
	{"us", 6},
	{"ir", 6},
	{"gr", 5},
	{"cn", 5},
	{"com.tr", 5},
	{"co.za", 4},
	{"gov", 4},
	{"tv", 4},
	{"me", 4},
	{"co", 4},
	{"online", 3},
	{"org.uk", 3},
	{"wordpress.com", 3},
	{"ac.uk", 2},
	{"com.mx", 2},
	{"shop", 2},
	{"xn--p1ai", 2},
	{"photography", 1},
	{"go.jp", 1},
	{"tokyo.jp", 1},
}

const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"

// word makes a pronounceable word of 3 to 9 letters.
func (g *generator) word() string {
	b := make([]byte, 3+(g.IntN(7)+g.IntN(7))/2)
	for i := range b {
		from := vowels
		if i%2 == 0 {
			from = consonants
		}
		b[i] = from[g.IntN(len(from))]
	}
	return string(b)
}

// chars makes n characters of from.
func (g *generator) chars(n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[g.IntN(len(from))]
	}
	return string(b)
}

const (
	digits       = "0123456789"
	hex          = "0123456789abcdef"
	alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
