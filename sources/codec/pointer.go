package codec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParsePointer splits a JSON pointer (RFC 6901 section 3) into its unescaped reference tokens. The empty
// pointer has none and means the whole record.
func ParsePointer(p string) ([]string, error) {
	if p == "" {
		return nil, nil
	}
	if !utf8.ValidString(p) {
		return nil, errors.New("not valid UTF-8")
	}
	if p[0] != '/' {
		return nil, fmt.Errorf("%q does not begin with a slash; a JSON pointer (RFC 6901) is written /%s", p, p)
	}
	tokens := strings.Split(p[1:], "/")
	for i, t := range tokens {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(t), "~") {
			return nil, fmt.Errorf("%q has a ~ that is not followed by 0 or 1; a JSON pointer (RFC 6901) writes ~ as ~0 and / as ~1", p)
		}
		tokens[i] = strings.NewReplacer("~0", "~", "~1", "/").Replace(t)
	}
	return tokens, nil
}

// node is a place in a record that a pointer leads to or through. All pointers of a codec form one tree, so
// that a single pass over the record finds what every one of them points to.
type node struct {
	key   string // as member of an object
	index int    // as element of an array, -1 where key is no array index
	next  []*node
	first [keySlots]uint16 // by keySlot: which of next is the first with such a key, len(next) where none has it
	// own are the captures that this place fills; lo and hi span those of the whole subtree, which is
	// what a duplicate key has to forget.
	own    []int
	lo, hi int
	named  bool   // some of next are elements that are found by their names; see [NewPlaces]
	name   []byte // of such an element
}

// newTree builds the tree of the pointers whose tokens are given, and numbers the captures in tree order:
// slots[i] is the capture of pointer i.
func newTree(pointers [][]string) (root *node, slots []int) {
	root = &node{index: -1}
	for i, tokens := range pointers {
		n := root
		for _, t := range tokens {
			n = n.child(t)
		}
		n.own = append(n.own, i)
	}
	slots = make([]int, len(pointers))
	root.number(slots, 0)
	return root, slots
}

func (n *node) child(key string) *node {
	for _, c := range n.next {
		if c.key == key {
			return c
		}
	}
	c := &node{key: key, index: ArrayIndex(key)}
	n.next = append(n.next, c)
	return c
}

// number gives the captures of n's subtree the numbers from lo on, and turns own from pointers into captures.
func (n *node) number(slots []int, lo int) int {
	n.lo, n.hi = lo, lo
	for i, pointer := range n.own {
		slots[pointer] = n.hi
		n.own[i] = n.hi
		n.hi++
	}
	for i := range n.first {
		n.first[i] = uint16(min(len(n.next), math.MaxUint16))
	}
	for i, c := range n.next {
		n.hi = c.number(slots, n.hi)
		slot := keySlot(c.key)
		n.first[slot] = min(n.first[slot], uint16(min(i, math.MaxUint16)))
	}
	return n.hi
}

// keySlots is a power of two.
const keySlots = 64

// keySlot returns a number below keySlots that most keys of an object do not have in common.
func keySlot[T string | []byte](key T) int {
	n := len(key)
	if n == 0 {
		return 0
	}
	return (n<<2 ^ int(key[0]) ^ int(key[n-1])<<3) % keySlots
}

// ArrayIndex reads an array index as RFC 6901 section 4 has it: digits without leading zeros. "-" is the
// element after the last, which no record has. What is no index gives -1.
func ArrayIndex(token string) int {
	i, err := strconv.ParseUint(token, 10, strconv.IntSize-1) // without a sign
	if err != nil || len(token) > 1 && token[0] == '0' {
		return -1
	}
	return int(i)
}
