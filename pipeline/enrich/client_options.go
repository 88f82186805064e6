package enrich

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich/address"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
)

// UserAgent are the options of the columns that say what the user agent is.
type UserAgent struct {
	// Field is the carried field with the user agent; "" for the first of [UserAgentFields] that there is.
	Field string
	// Hints is the carried field with the Client Hint Sec-CH-UA; the names of the others begin with it. "" for the first of [HintFields]
	// that there is.
	Hints string
	// Address is the carried field with the address, for bot_verified; "" for the first of [AddressFields] that there is.
	Address string
	// Cache is how many bytes of user agents are remembered.
	Cache int64
	// BotRanges are the addresses of bots.
	BotRanges []BotRanges
}

// BotRanges are the files with the addresses of bots.
type BotRanges struct{ Bots, Files []string }

// Address are the options of the columns that say where the address is.
type Address struct {
	// Field is the carried field with the address; "" for the first of [AddressFields] that there is.
	Field string
	// Files are of MaxMind's format. The first that knows a column says it.
	Files []string
}

// The names of the fields that are taken for the user agent and the address where no option names one.
var (
	UserAgentFields = []string{"user_agent", "http_user_agent", "useragent"}
	HintFields      = []string{"sec_ch_ua", "http_sec_ch_ua", "cs_sec_ch_ua"}
	AddressFields   = []string{"remote_addr", "client_ip", "client_addr", "client", "ip"}
)

// DefaultUserAgent returns the options that an empty section stands for.
func DefaultUserAgent() UserAgent { return UserAgent{Cache: 8 << 20} }

func (o *UserAgent) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "field", Doc: "Carried field with the user agent. Not set: user_agent, http_user_agent or useragent, whichever is carried.", Value: config.Text(&o.Field, "user_agent")},
		{Name: "hints", Doc: "Carried field with the Client Hint Sec-CH-UA; the others are the fields of this name with _mobile, _platform, _platform_version, _full_version_list and _model behind it, each of which may be there or not. Not set: sec_ch_ua, http_sec_ch_ua or cs_sec_ch_ua, if any of them is carried.", Value: config.Text(&o.Hints, "sec_ch_ua")},
		{Name: "address", Doc: "Carried field with the client's address, for bot_verified. Not set: remote_addr, client_ip, client_addr, client or ip, whichever is carried.", Value: config.Text(&o.Address, "remote_addr")},
		{Name: "cache", Doc: "Memory for user agents that have been looked up.", Value: config.Size(&o.Cache, 64<<10, 1<<30)},
		{Name: "bot_ranges", Live: true, Doc: "Which addresses bots have, for bot_verified.", Value: config.List(&o.BotRanges, func() BotRanges { return BotRanges{} }, "[{bots: [Googlebot], files: [/var/lib/urlmill/googlebot.json]}]", botRangesSection)},
	}}
}

func botRangesSection(b *BotRanges) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "bots", Doc: "Names of bots, as bot_name has them.", Value: config.Texts(&b.Bots, "[Googlebot]"), Example: "bots: [Googlebot]"},
		{Name: "files", Doc: "Files of their operator's ranges: JSON as Google, Bing and OpenAI publish it, or a range on each line.", Value: config.Texts(&b.Files, "[/var/lib/urlmill/googlebot.json]"), Example: "files: [/var/lib/urlmill/googlebot.json]"},
	}}
}

func (o *Address) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "field", Doc: "Carried field with the client's address. Not set: remote_addr, client_ip, client_addr, client or ip, whichever is carried.", Value: config.Text(&o.Field, "remote_addr")},
		{Name: "files", Live: true, Doc: "Files of MaxMind's format (.mmdb), such as GeoLite2-City and GeoLite2-ASN. The first that knows a column says it.", Value: config.Texts(&o.Files, "[/usr/share/GeoIP/GeoLite2-City.mmdb]"), Example: "files: [/usr/share/GeoIP/GeoLite2-City.mmdb]"},
	}}
}

// Clients are what the columns of clients are made by: rules and files. They are safe for concurrent use.
type Clients struct {
	agents *agents.Cache              // nil without enrich.user_agent
	ranges map[string]*address.Ranges // by the name of a bot
	places *address.Files             // nil without enrich.address

	version string
	stamps  []stamp
}

// stamp says of a file when it was changed.
type stamp struct {
	path string
	info string
}

func newStamp(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path, err.Error()}
	}
	return stamp{path, fmt.Sprint(info.Size(), info.ModTime().UnixNano())}
}

// Version is a hash of the rules for user agents, and of the names, sizes and times of the files that the clients were read from.
func (c *Clients) Version() string { return c.version }

// Changed reports whether a file is another one than when it was read.
func (c *Clients) Changed() bool {
	return c != nil && slices.ContainsFunc(c.stamps, func(s stamp) bool { return s != newStamp(s.path) })
}

// Keep takes over what another one remembers of user agents.
func (c *Clients) Keep(other *Clients) {
	if c.agents != nil && other.agents != nil {
		c.agents = other.agents
	}
}

// clientFiles returns the paths of all files.
func (o *Options) clientFiles() (paths []string) {
	if o.UserAgent != nil {
		for _, b := range o.UserAgent.BotRanges {
			paths = append(paths, b.Files...)
		}
	}
	if o.Address != nil {
		paths = append(paths, o.Address.Files...)
	}
	return paths
}

// ClientMemory returns about the bytes that clients hold, files twice since there are two of each while a reload replaces it, and those
// that workers goroutines need to use them, whatever is in a batch.
func (o *Options) ClientMemory(workers int) (n int64) {
	for _, path := range o.clientFiles() {
		if info, err := os.Stat(path); err == nil {
			n += 2 * info.Size()
		}
	}
	if o.UserAgent != nil {
		n += agents.RulesMemory + o.UserAgent.Cache + int64(workers)*(agents.ScannerMemory+hintedMemory)
	}
	if o.Address != nil {
		n += 2*int64(len(o.Address.Files))*address.CacheMemory + int64(workers)*knownMemory
	}
	return n
}

// ReadClients reads the files that the options name, and returns nil where neither enrich.user_agent nor enrich.address is there. The
// error joins a [*pipeline.FieldError] for everything that is wrong.
func (o *Options) ReadClients() (*Clients, error) {
	if o.UserAgent == nil && o.Address == nil {
		return nil, nil
	}
	c := &Clients{ranges: map[string]*address.Ranges{}}
	for _, path := range o.clientFiles() {
		c.stamps = append(c.stamps, newStamp(path)) // before reading: a change in between is found later
	}
	var errs []error
	builtIn := ""
	if u := o.UserAgent; u != nil {
		builtIn = agents.Version()
		c.agents = agents.NewCache(agents.Default(), u.Cache)
		for i, b := range u.BotRanges {
			errs = append(errs, c.readRanges(fmt.Sprintf("user_agent.bot_ranges[%d]", i), b)...)
		}
	}
	if a := o.Address; a != nil {
		var err error
		if len(a.Files) == 0 {
			err = errors.New("want a file; docs/enrich.md says where to get one")
		} else {
			c.places, err = address.Open(a.Files)
		}
		if err != nil {
			errs = append(errs, pipeline.FieldErrorf("address.files", "%w", err))
		}
	}
	c.version = fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %s", c.stamps, fmt.Sprint(o.botRanges()), builtIn)))[:len("sha256:")+32]
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

func (o *Options) botRanges() []BotRanges {
	if o.UserAgent == nil {
		return nil
	}
	return o.UserAgent.BotRanges
}

func (c *Clients) readRanges(key string, b BotRanges) (errs []error) {
	ranges, err := address.ReadRanges(b.Files)
	if len(b.Files) == 0 {
		err = errors.New("want a file; docs/enrich.md says where to get one")
	}
	if err != nil {
		errs = append(errs, pipeline.FieldErrorf(key+".files", "%w", err))
	}
	names := agents.Default().BotNames()
	for k, name := range b.Bots {
		where := fmt.Sprintf("%s.bots[%d]", key, k)
		switch {
		case !slices.Contains(names, name):
			errs = append(errs, pipeline.FieldErrorf(where, "no bot has the name %q%s", name, config.Suggest(name, names)))
		case c.ranges[name] != nil:
			errs = append(errs, pipeline.FieldErrorf(where, "%s has ranges already; put all files into one item", name))
		}
		c.ranges[name] = ranges
	}
	if len(b.Bots) == 0 {
		errs = append(errs, pipeline.FieldErrorf(key+".bots", "want the name of a bot, such as Googlebot"))
	}
	return errs
}
