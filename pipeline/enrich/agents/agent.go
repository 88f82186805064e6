package agents

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Agent is what a user agent is. It is immutable. Empty texts are not known.
type Agent struct {
	hash  uint64
	bytes int // of its texts

	Browser, BrowserVersion string
	OS, OSVersion           string
	DeviceClass, Device     string
	Bot, BotName            string
}

// New returns what a user agent is by the rules. Nothing of it is in the memory of text.
func (r *Rules) New(s *Scanner, text string) *Agent {
	r.filter.find(&s.matches, text)
	s.fields = s.fields[:0]
	var ends [2 * bots]int // of name and version of the groups
	for group := range bots {
		ends[2*group], ends[2*group+1] = len(s.fields), len(s.fields)
		if r.first(s, group, text) != nil {
			s.fields = append(s.fields, s.said[0]...)
			ends[2*group] = len(s.fields)
			if group != devices {
				s.addVersion(s.said[1 : 4+group])
			}
			ends[2*group+1] = len(s.fields)
		}
	}
	all := string(s.fields)
	a := &Agent{
		bytes: len(all), Browser: all[:ends[0]], BrowserVersion: all[ends[0]:ends[1]], OS: all[ends[1]:ends[2]], OSVersion: all[ends[2]:ends[3]],
		Device: strings.TrimSpace(all[ends[3]:ends[4]]),
	}
	if it := r.first(s, bots, text); it != nil {
		a.Bot, a.BotName = it.says[0], it.says[1]
	} else if a.Device == spider {
		a.Bot, a.BotName = "unknown", a.Browser
	}
	a.Browser, a.OS, a.Device = known(a.Browser), known(a.OS), known(a.Device)
	if a.Bot != "" {
		a.DeviceClass = "bot"
	} else if it := r.first(s, marks, text); it != nil {
		a.DeviceClass = it.says[0]
	} else {
		a.DeviceClass = systemClasses[a.OS]
	}
	return a
}

// addVersion joins the parts that are there, as uap-go does. A system has one more than a browser.
func (s *Scanner) addVersion(parts [][]byte) {
	for i, p := range parts {
		if i > 0 && len(p) > 0 {
			s.fields = append(s.fields, '.')
		}
		s.fields = append(s.fields, p...)
	}
}

// spider is what uap-core calls the device of a bot.
const spider = "Spider"

// known returns a name, "" for what uap-core has where it knows none.
func known(name string) string {
	if name == "Other" {
		return ""
	}
	return name
}

// deviceMarks are what user agents of a class have, the first to count first. What none has is told by the system.
var deviceMarks = []struct {
	class string
	marks []string
}{
	{"tv", []string{"SmartTV", "SMART-TV", "Smart TV", "AppleTV", "Apple TV", "GoogleTV", "Android TV", "BRAVIA", "CrKey", "HbbTV", "Web0S", "Roku", "AFTS", "AFTB", "AFTT", "AFTM", "NetCast", "TV Safari"}},
	{"console", []string{"PlayStation", "PLAYSTATION", "Xbox", "Nintendo"}},
	{"tablet", []string{"iPad", "Tablet", "tablet", "Kindle", "Silk/", "PlayBook"}},
	{"mobile", []string{"iPhone", "iPod", "Mobile", "Windows Phone", "BlackBerry", "Opera Mini", "MIDP", "Symbian"}},
}

// systemClasses are the device classes of systems, of devices without a mark.
var systemClasses = map[string]string{
	"Windows": "desktop", "Mac OS X": "desktop", "Mac OS": "desktop", "Linux": "desktop", "Ubuntu": "desktop", "Fedora": "desktop", "Debian": "desktop",
	"Chrome OS": "desktop", "FreeBSD": "desktop", "OpenBSD": "desktop", "NetBSD": "desktop", "Solaris": "desktop", "Red Hat": "desktop", "SUSE": "desktop",
	"Gentoo": "desktop", "Mandriva": "desktop", "Arch Linux": "desktop", "Linux Mint": "desktop", "Kubuntu": "desktop",
	"Android": "tablet", // Chrome on telephones says Mobile
	"iOS":     "mobile", "BlackBerry OS": "mobile", "Symbian OS": "mobile", "Firefox OS": "mobile", "KaiOS": "mobile", "Windows Phone": "mobile",
	"tvOS": "tv", "webOS": "tv", "Tizen": "tv", "Roku": "tv", "Chromecast": "tv", "watchOS": "wearable", "WatchOS": "wearable",
}

// Cache remembers agents by a seeded hash of their text, in one of as many slots as a set has; later ones take the place of earlier ones.
// It is safe for concurrent use. An entry has the full 64 bits of the hash and not the text: with a seed that nobody knows, two user agents
// are taken for one with a chance of 2^-64 each time.
type Cache struct {
	rules *Rules
	seed  maphash.Seed
	sets  []set
	turn  atomic.Uint32 // which slot of a full set is next replaced
}

// set is a line of the processor's cache. A hash may be that of the agent before, which its own says.
type set struct {
	hashes [ways]atomic.Uint64
	agents [ways]atomic.Pointer[Agent]
}

const (
	ways      = 4
	maxText   = 320 // bytes of the texts of an agent that is remembered
	slotBytes = int64(unsafe.Sizeof(Agent{})+unsafe.Sizeof(set{})/ways) + maxText
)

// NewCache returns a cache that holds at most so many bytes.
func NewCache(rules *Rules, bytes int64) *Cache {
	return &Cache{rules: rules, seed: maphash.MakeSeed(), sets: make([]set, max(bytes/slotBytes/ways, 1))}
}

// Find returns what a user agent is, nil for a text with a control character. It allocates for those alone that are not remembered.
func (c *Cache) Find(s *Scanner, text []byte) *Agent {
	hash := maphash.Bytes(c.seed, text)
	at, _ := bits.Mul64(hash, uint64(len(c.sets)))
	set := &c.sets[at]
	for i := range set.hashes {
		if set.hashes[i].Load() == hash {
			if a := set.agents[i].Load(); a != nil && a.hash == hash {
				return a
			}
		}
	}
	if slices.ContainsFunc(text, func(b byte) bool { return b < ' ' }) {
		return nil
	}
	a := c.rules.New(s, unsafe.String(unsafe.SliceData(text), len(text)))
	a.hash = hash
	if a.bytes <= maxText {
		slot := 0
		for slot < ways && set.agents[slot].Load() != nil {
			slot++
		}
		if slot == ways {
			slot = int(c.turn.Add(1) % ways)
		}
		set.agents[slot].Store(a)
		set.hashes[slot].Store(hash)
	}
	return a
}
