package agents

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Agent is what a user agent is. It is immutable. Empty texts are not known.
type Agent struct {
	hash uint64

	Browser, BrowserVersion string
	OS, OSVersion           string
	DeviceClass, Device     string
	Bot, BotName            string
}

// New returns what a user agent is by the rules.
func (r *Rules) New(s *Scanner, text string) *Agent {
	r.filter.find(&s.matches, text)
	a := new(Agent)
	if r.first(s, browsers, text) != nil {
		a.Browser, a.BrowserVersion = string(s.said[0]), version(s.said[1:4])
	}
	if r.first(s, systems, text) != nil {
		a.OS, a.OSVersion = string(s.said[0]), version(s.said[1:5])
	}
	if r.first(s, devices, text) != nil {
		a.Device = strings.TrimSpace(string(s.said[0]))
	}
	if it := r.first(s, bots, text); it != nil {
		a.Bot, a.BotName = it.says[0], it.says[1]
	} else if a.Device == spider {
		a.Bot, a.BotName = "unknown", a.Browser
	}
	a.Browser, a.OS, a.Device = known(a.Browser), known(a.OS), known(a.Device)
	a.DeviceClass = deviceClass(a, text)
	return a
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

// version joins the parts that are there, as uap-go does.
func version(parts [][]byte) string {
	var v []byte
	for i, p := range parts {
		if len(p) == 0 {
			continue
		}
		if i > 0 {
			v = append(v, '.')
		}
		v = append(v, p...)
	}
	return string(v)
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

func deviceClass(a *Agent, text string) string {
	if a.Bot != "" {
		return "bot"
	}
	for _, d := range deviceMarks {
		for _, mark := range d.marks {
			if strings.Contains(text, mark) {
				return d.class
			}
		}
	}
	return systemClasses[a.OS]
}

// Cache remembers agents by a seeded hash of their text, in one of as many slots as a set has; later ones take the place of earlier ones.
// It is safe for concurrent use. An entry has the full 64 bits of the hash and not the text: with a seed that nobody knows, two user agents
// are taken for one with a chance of 2^-64 each time.
type Cache struct {
	rules *Rules
	seed  maphash.Seed
	sets  [][ways]atomic.Pointer[Agent]
	turn  atomic.Uint32 // which slot of a full set is next replaced
}

const (
	ways      = 4
	maxText   = 320 // bytes of the texts of an agent that is remembered
	slotBytes = int64(unsafe.Sizeof(Agent{})+unsafe.Sizeof(atomic.Pointer[Agent]{})) + maxText
)

// NewCache returns a cache that holds at most so many bytes.
func NewCache(rules *Rules, bytes int64) *Cache {
	return &Cache{rules: rules, seed: maphash.MakeSeed(), sets: make([][ways]atomic.Pointer[Agent], max(bytes/slotBytes/ways, 1))}
}

// Find returns what a user agent is. It allocates for those alone that are not remembered.
func (c *Cache) Find(s *Scanner, text []byte) *Agent {
	hash := maphash.Bytes(c.seed, text)
	set := &c.sets[hash%uint64(len(c.sets))]
	slot := &set[0]
	for i := range set {
		a := set[i].Load()
		if a == nil {
			slot = &set[i]
			break
		}
		if a.hash == hash {
			return a
		}
		slot = nil
	}
	if slot == nil {
		slot = &set[c.turn.Add(1)%ways]
	}
	a := c.rules.New(s, string(text))
	a.hash = hash
	if len(a.Browser)+len(a.BrowserVersion)+len(a.OS)+len(a.OSVersion)+len(a.Device)+len(a.BotName) <= maxText {
		slot.Store(a)
	}
	return a
}
