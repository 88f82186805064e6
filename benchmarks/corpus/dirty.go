package corpus

import (
	"strconv"
	"strings"
)

// spoil changes a URL so that the parser has more to do than to cut it, in one of the ways in which URLs of real
// logs are not in their normal form, each about as often as the others.
func (g *generator) spoil(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, path, slash := strings.Cut(rest, "/")
	if slash {
		path = "/" + path
	}
	join := func(host, path string) string { return scheme + "://" + host + path }
	switch g.IntN(10) {
	case 0:
		return join(strings.ToUpper(host[:1])+host[1:], path)
	case 1:
		return strings.ToUpper(scheme) + "://" + host + path
	case 2:
		return join(host, "/"+g.word()+pick(g, []string{"/../", "/./", "/%2e%2E/"})+g.word()+path)
	case 3:
		return join(host, path+pick(g, []string{" ", "\"", "ü", "<b>", "{x}"})+g.word())
	case 4:
		return join(host+pick(g, []string{":8080", ":443", ":80", ":", ":3000"}), path)
	case 5:
		return join(g.word()+pick(g, []string{"", ":" + g.word()})+"@"+host, path)
	case 6:
		return join(g.ipv4(), path)
	case 7:
		return join(pick(g, []string{"www.", ""})+pick(g, idns), path)
	case 8:
		return " " + url + pick(g, []string{"", " ", "\t"})
	default:
		return pick(g, []string{
			"//" + rest, "javascript:void(0)", "mailto:" + g.word() + "@" + host, "http://" + g.word() + " " + host + "/",
			"https://", join(host+":99999", path), path, "http://[::1]" + path, "data:text/plain,x", "ftp://" + rest,
		})
	}
}

func (g *generator) ipv4() string {
	part := func() string { return strconv.Itoa(g.IntN(256)) }
	return part() + "." + part() + "." + part() + "." + part()
}

// idns are hosts that need IDNA.
var idns = []string{
	"bücher.example", "münchen.de", "пример.рф", "例え.jp", "straße.de", "café.fr", "español.es", "日本語.jp", "παράδειγμα.gr", "한국.kr",
	"zürich.ch", "łódź.pl", "færøerne.dk", "россия.рф", "中文.cn",
}
