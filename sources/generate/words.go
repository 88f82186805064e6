package generate

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

// lists has the words that URLs are made of, and how often each is drawn:
//
//   - suffixes: public suffixes with roughly the share that they have among the hosts of large crawls: the generic ones
//     first, then countries, of which many have suffixes of two labels, then private suffixes under which everybody may
//     have a name
//   - subdomains: what stands before the registrable domain
//   - sections: what paths begin with, and extensions what some of them end with
//   - parameters: the names of query parameters other than those of trackers
//   - countries: where users come from
//   - statuses: HTTP status codes
//   - agents: user agents of people and of bots, and referrers those of visits that begin, for Options.Visits
//
//go:embed lists
var lists embed.FS

// words make paths, parameters and search phrases.
//
//go:embed lists/words.txt
var wordList string

var words = strings.Fields(wordList)

// sampler draws strings in proportion to their weights.
type sampler struct {
	values []string
	alias  alias
}

// newSampler returns the sampler of one of the lists: a line is a weight and a string, a weight alone that of the empty
// string.
func newSampler(list string) sampler {
	text, err := lists.ReadFile("lists/" + list + ".txt")
	if err != nil {
		panic(err) // the name is constant
	}
	var values []string
	var weights []float64
	for line := range strings.Lines(string(text)) {
		weight, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		w, err := strconv.ParseFloat(weight, 64)
		if err != nil {
			panic(fmt.Sprintf("lists/%s.txt: %v", list, err))
		}
		values, weights = append(values, value), append(weights, w)
	}
	return sampler{values, newAlias(weights)}
}

func (s *sampler) draw(r *rng) string { return s.values[s.alias.draw(r)] }

// syllables make the names of hosts, which nobody owns but by accident.
var syllables = []string{
	"ba", "be", "bo", "ca", "co", "da", "de", "di", "do", "fa", "fe", "fi", "ga", "go", "ha", "he", "hi", "ja", "jo", "ka", "ke", "ki", "ko",
	"la", "le", "li", "lo", "lu", "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "nu", "pa", "pe", "pi", "po", "ra", "re", "ri", "ro", "ru",
	"sa", "se", "si", "so", "su", "ta", "te", "ti", "to", "tu", "va", "ve", "vi", "vo", "wa", "we", "ya", "yo", "za", "zo", "tra", "pre", "flo",
	"gen", "lin", "mar", "nor", "son", "tek", "ver", "wen", "zen", "dox", "lex", "mix", "net", "pol", "rex",
}

// international are the labels of internationalized hosts, in scripts from both sides.
var international = []string{
	"bücher", "köln", "müller-söhne", "straße", "café", "français", "españa", "niño", "łódź", "žluťoučký", "москва", "новости", "пример",
	"παράδειγμα", "ελλάδα", "日本語", "例え", "東京タワー", "新闻", "中文网", "한국어", "서울", "ไทย", "हिन्दी", "العربية", "עברית", "ქართული",
}

var (
	utmSources   = []string{"google", "newsletter", "facebook", "instagram", "bing", "twitter", "linkedin", "partner-site", "push", "qr"}
	utmMediums   = []string{"cpc", "email", "social", "organic", "display", "referral", "affiliate", "push"}
	utmCampaigns = []string{"spring_sale", "brand", "retargeting", "2026-q3_launch", "welcome-series", "black%20friday", "DE_Search_Generic", "{campaign}"}
)

// phrases are words of several languages, percent-encoded in paths and queries.
var phrases = []string{
	"größe", "crème brûlée", "niños", "Łódź", "žluťoučký kůň", "Заглавная страница", "новости дня", "ειδήσεις", "天気予報", "東京", "新品上市", "날씨",
	"مرحبا", "שלום", "สวัสดี", "नमस्ते", "naïve café", "smörgåsbord", "100% bio", "a/b test", "rock & roll", "c++", "50€", "😀 party",
}
