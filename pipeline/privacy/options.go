// Package privacy removes what must not be stored from the batches of a pipeline, before anything is made of them: columns, keys of
// duplicates, dead letters, messages and what the status page shows have what it leaves.
//
// A [Policy] is a checked configuration, shared by all goroutines. [Policy.Transforms] puts it before the transform that parses, and
// [Policy.Address] is for the column of a client's address, which is shortened only when other columns have been made of it.
package privacy

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Method is what becomes of what is found.
type Method uint8

const (
	Mask Method = iota // Mask puts *** in its place.
	Drop               // Drop takes it out, with its parameter or segment.
	Hash               // Hash puts the first 128 bits of its HMAC-SHA-256 in its place, in hex.
)

var methodNames = [...]string{"mask", "drop", "hash"}

// String returns the name that a configuration has for the method.
func (m Method) String() string { return methodNames[m] }

// kind is a kind of value that is recognised by its form.
type kind uint8

const (
	email kind = iota
	phone
	card
	jwt
	apiKey
	token
	coordinates
	credentials
	numKinds
)

var kindNames = [numKinds]string{"email", "phone", "card", "jwt", "api_key", "token", "coordinates", "credentials"}

// Kinds returns the names of all kinds of values. The caller owns the slice.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// Names are the names of parameters and fields that are taken for personal where no option says which are.
var Names = []string{
	"*token*", "*passw*", "passwd", "pwd", "*secret*", "*api_key*", "*apikey*", "*api-key*", "access_key", "auth", "authorization", "jwt",
	"session", "*session_id", "*sessionid", "*sessid", "sid", "aspsessionid*", "cookie", "set-cookie", "x-amz-signature", "x-amz-credential",
	"email", "e-mail", "*_email", "email_*", "mail", "phone", "*_phone", "phone_*", "tel", "telephone", "mobile", "msisdn",
	"first_name", "firstname", "last_name", "lastname", "full_name", "fullname", "surname", "birthday", "birthdate", "date_of_birth", "dob",
	"ssn", "iban", "card_number", "cardnumber", "cvv", "cvc", "lat", "lon", "lng", "latitude", "longitude", "ip", "ip_address", "client_ip",
}

// Options says what is removed.
type Options struct {
	// Kinds are names of [Kinds] whose values are removed wherever they stand.
	Kinds []string
	// Names are the names of parameters, members and fields whose values are removed, in any case of letters; * stands for any text.
	Names []string
	// Segments are segments of a path behind which the next one is removed.
	Segments []string
	// Method is what becomes of what is found, and Methods that of a kind, a name or a segment, as it stands in one of the lists.
	Method  Method
	Methods map[string]string
	// Address says what becomes of the addresses of clients; nil: they are kept.
	Address *Address
	// Keys is the file of the keys of hashes.
	Keys string
}

// Address says what becomes of addresses of clients.
type Address struct {
	// Fields are the carried fields that have them.
	Fields []string
	// Hash replaces them by their hashes. Otherwise they keep their first bits alone.
	Hash       bool
	IPv4, IPv6 int
}

// AddressFields are the fields that have addresses where no option says which have.
var AddressFields = []string{"remote_addr", "client_ip", "ip", "ip_address", "client_address", "c_ip", "forwarded_for", "x_forwarded_for"}

// Default returns the options that an empty section stands for.
func Default() Options { return Options{Kinds: Kinds(), Names: slices.Clone(Names)} }

// Section returns the keys of a configuration that o is bound to.
func (o *Options) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "kinds", Doc: "Kinds of values that are removed wherever they stand: " + strings.Join(kindNames[:], ", ") + ".", Value: config.OrNone(config.Texts(&o.Kinds, "[email, card]"))},
			{Name: "names", Doc: "Names of parameters, JSON members and carried fields whose values are removed; * stands for any text, and letters count in any case. docs/privacy.md has those of the default.", Value: config.OrNone(config.Texts(&o.Names, `["*token*", session]`))},
			{Name: "segments", Doc: "Segments of paths behind which the next one is removed.", Value: config.Texts(&o.Segments, "[users, account]")},
			{Name: "method", Doc: "What becomes of what is found: *** in its place, nothing with its parameter or segment, or a hash by a key.", Value: config.Stringers(&o.Method, Mask, Drop, Hash)},
			{Name: "methods", Doc: "Other methods for a kind, a name or a segment as it stands in its list.", Value: config.Pairs(&o.Methods, "a method", "{email: hash, session: drop}")},
			{Name: "address", Doc: "What becomes of the address of a client. Left out: it is kept; address: {} shortens it.", Value: config.Optional(&o.Address, defaultAddress, (*Address).section)},
			{Name: "keys", Live: true, Doc: "File of the keys of hashes: lines of a date from which on a key counts, and the key, of 16 characters or more.", Value: config.Text(&o.Keys, "/etc/urlmill/privacy.keys")},
		},
	}
}

func defaultAddress() Address {
	return Address{Fields: slices.Clone(AddressFields), IPv4: 24, IPv6: 48}
}

func (a *Address) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "fields", Doc: "Carried fields that have addresses.", Value: config.Texts(&a.Fields, "[remote_addr]")},
		{Name: "method", Doc: "Whether addresses keep their first bits or are replaced by hashes.", Value: config.Enum(&a.Hash, []string{"truncate", "hash"}, []bool{false, true})},
		{Name: "ipv4", Doc: "Bits of an IPv4 address that are kept.", Value: config.Int(&a.IPv4, 0, 32)},
		{Name: "ipv6", Doc: "Bits of an IPv6 address that are kept.", Value: config.Int(&a.IPv6, 0, 128)},
	}}
}

// Policy is a checked set of options with its counts. It is safe for concurrent use, and does not change but for its keys.
type Policy struct {
	kinds    [numKinds]bool
	names    patterns
	segments patterns
	methods  []Method // of every rule
	address  *Address
	keys     atomic.Pointer[Keys]

	rules  []string // as metrics name them: the kinds first, then names, segments, and the others
	counts []atomic.Int64
}

// Rules behind those of kinds, names and segments.
const (
	ruleAddress = iota // an address of a client
	ruleRecord         // a record that cannot be scanned
	ruleCut            // the end of a record that was cut
	numOthers
)

// New checks o and returns its policy, without keys. The error joins a [*pipeline.FieldError] for every fault.
func New(o Options) (*Policy, error) {
	var problems pipeline.Problems
	p := &Policy{address: o.Address, methods: make([]Method, numKinds), rules: Kinds()}
	for i, name := range o.Kinds {
		k := slices.Index(kindNames[:], name)
		if k < 0 {
			problems.Value(at("kinds", i), name, "is no kind of values").Advise("there are %s", strings.Join(kindNames[:], ", "))
			continue
		}
		p.kinds[k] = true
	}
	used := slices.Concat(o.Kinds, o.Names, o.Segments)
	for _, l := range []struct {
		key      string
		patterns *patterns
		texts    []string
	}{{"name", &p.names, o.Names}, {"segment", &p.segments, o.Segments}} {
		for i, text := range l.texts {
			if strings.Trim(text, "*") == "" {
				problems.Value(at(l.key+"s", i), text, "is every name").Advise("name some, such as *token*")
			}
			l.patterns.add(text, len(p.rules))
			p.rules = append(p.rules, l.key+":"+text)
			p.methods = append(p.methods, o.Method)
		}
	}
	for k := range numKinds {
		p.methods[k] = o.Method
	}
	hashes := o.Method == Hash && len(used) > 0 || o.Address != nil && o.Address.Hash
	for text, name := range o.Methods {
		m := slices.Index(methodNames[:], name)
		if m < 0 {
			problems.Value("methods."+text, name, "is no method").Advise("there are %s", strings.Join(methodNames[:], ", "))
			continue
		}
		if !slices.Contains(used, text) {
			problems.Add("methods."+text, "nothing of that name is removed").Advise("name it in kinds, names or segments, or take it out")
		}
		hashes = hashes || Method(m) == Hash
		for i, rule := range p.rules {
			if rule == text || rule == "name:"+text || rule == "segment:"+text {
				p.methods[i] = Method(m)
			}
		}
	}
	if o.Keys == "" && hashes {
		problems.Add("keys", "hashes need a key, or everybody could make them; name a file of keys").Advise("docs/privacy.md says what is in it")
	}
	p.rules = append(p.rules, "address", "record", "cut")
	p.methods = append(p.methods, Mask, Mask, Mask)
	p.counts = make([]atomic.Int64, len(p.rules))
	return p, problems.Err()
}

// other returns the number of one of the last rules.
func (p *Policy) other(rule int) int { return len(p.rules) - numOthers + rule }

// SetKeys sets the keys of hashes for the batches that begin from now on.
func (p *Policy) SetKeys(k *Keys) { p.keys.Store(k) }

// Counts calls yield with every rule and how much it has removed.
func (p *Policy) Counts(yield func(rule string, n int64) bool) {
	for i, rule := range p.rules {
		if !yield(rule, p.counts[i].Load()) {
			return
		}
	}
}

// HasNames reports whether values are removed by names.
func (p *Policy) HasNames() bool { return !p.names.none() }

// Removes reports whether a carried field is removed by its name.
func (p *Policy) Removes(f pipeline.Field) bool {
	return !p.isAddress(f) && p.names.match([]byte(f.Name)) >= 0
}

// Kept returns the names that often hold personal data, and that o, nil for no policy, does not remove. The caller owns the slice.
func Kept(o *Options, names []string) (kept []string) {
	var personal, removed patterns
	for _, text := range slices.Concat(Names, AddressFields) {
		personal.add(text, 0)
	}
	if o != nil {
		for _, text := range o.Names {
			removed.add(text, 0)
		}
		if o.Address != nil {
			for _, text := range o.Address.Fields {
				removed.add(text, 0)
			}
		}
	}
	for _, name := range names {
		if personal.match([]byte(name)) >= 0 && removed.match([]byte(name)) < 0 {
			kept = append(kept, name)
		}
	}
	return kept
}
