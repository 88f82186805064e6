package generate

// weighted is a string that is drawn in proportion to its weight.
type weighted struct {
	s string
	w float64
}

// sampler draws strings.
type sampler struct {
	values []string
	alias  alias
}

func newSampler(list []weighted) sampler {
	s := sampler{}
	weights := make([]float64, len(list))
	for i, e := range list {
		s.values = append(s.values, e.s)
		weights[i] = e.w
	}
	s.alias = newAlias(weights)
	return s
}

func (s *sampler) draw(r *rng) string { return s.values[s.alias.draw(r)] }

// suffixes are public suffixes with roughly the share that they have among the hosts of large crawls: the generic
// ones first, then countries, of which many have suffixes of two labels, then private suffixes under which
// everybody may have a name.
var suffixes = []weighted{
	{"com", 440},
	{"org", 55},
	{"net", 38},
	{"info", 10},
	{"io", 9},
	{"edu", 8},
	{"gov", 5},
	{"co", 6},
	{"dev", 3},
	{"app", 3},
	{"xyz", 3},
	{"online", 3},
	{"shop", 4},
	{"store", 2},
	{"blog", 1},
	{"tv", 3},
	{"me", 4},
	{"eu", 7},
	{"de", 55},
	{"ru", 34},
	{"fr", 27},
	{"it", 22},
	{"nl", 23},
	{"pl", 19},
	{"es", 15},
	{"ca", 13},
	{"ch", 11},
	{"cz", 10},
	{"se", 9},
	{"be", 9},
	{"at", 8},
	{"cn", 8},
	{"dk", 7},
	{"us", 7},
	{"ir", 7},
	{"in", 8},
	{"co.uk", 34},
	{"org.uk", 4},
	{"ac.uk", 2},
	{"co.jp", 11},
	{"ne.jp", 2},
	{"or.jp", 2},
	{"jp", 17},
	{"com.br", 22},
	{"com.au", 16},
	{"com.cn", 6},
	{"com.tr", 5},
	{"com.mx", 5},
	{"com.ar", 5},
	{"com.tw", 4},
	{"com.ua", 4},
	{"co.kr", 4},
	{"co.za", 5},
	{"co.nz", 4},
	{"co.in", 3},
	{"co.il", 3},
	{"github.io", 5},
	{"blogspot.com", 9},
	{"wordpress.com", 4},
	{"pages.dev", 2},
	{"vercel.app", 2},
	{"netlify.app", 2},
	{"herokuapp.com", 2},
	{"web.app", 1},
	{"cloudfront.net", 3},
	{"azurewebsites.net", 2},
	{"s3.amazonaws.com", 1},
	{"city.kawasaki.jp", 0.2},
	{"kobe.jp", 0.2},
	{"k12.ca.us", 0.5},
}

// subdomains are what stands before the registrable domain; empty for nothing.
var subdomains = []weighted{
	{"www.", 460},
	{"", 360},
	{"m.", 22},
	{"blog.", 16},
	{"shop.", 14},
	{"news.", 11},
	{"en.", 9},
	{"de.", 5},
	{"api.", 9},
	{"app.", 9},
	{"cdn.", 6},
	{"img.", 6},
	{"support.", 7},
	{"docs.", 7},
	{"forum.", 5},
	{"mail.", 4},
	{"my.", 4},
	{"static.assets.", 2},
	{"eu-west-1.console.", 1},
	{"a1.b2.", 1},
}

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

// words make paths, parameters and search phrases.
var words = []string{
	"about", "account", "action", "album", "android", "archive", "article", "artist", "author", "autumn", "bags", "bathroom", "battery", "beach",
	"best", "bike", "black", "blue", "board", "book", "boots", "box", "brand", "bread", "brown", "budget", "business", "camera", "camping",
	"car", "cart", "category", "chairs", "cheap", "checkout", "children", "city", "classic", "climate", "clothing", "coffee", "collection",
	"comedy", "community", "company", "computer", "concert", "contact", "cotton", "course", "cover", "cream", "culture", "customer", "data",
	"decor", "delivery", "design", "desk", "diet", "digital", "dinner", "discount", "doctor", "download", "dress", "easy", "economy", "edition",
	"education", "electric", "energy", "europe", "event", "family", "fashion", "festival", "film", "finance", "fitness", "flight", "floor",
	"flowers", "food", "football", "free", "fresh", "furniture", "gallery", "game", "garden", "gift", "glass", "gold", "green", "guide", "hair",
	"health", "help", "history", "holiday", "home", "hotel", "house", "ideas", "image", "indoor", "insurance", "interview", "island", "italy",
	"jacket", "jazz", "jobs", "journal", "kitchen", "lamp", "laptop", "large", "law", "leather", "lesson", "library", "light", "lighting",
	"list", "live", "local", "long", "login", "lunch", "machine", "magazine", "market", "media", "medical", "member", "metal", "mini",
	"mobile", "model", "modern", "money", "mountain", "movie", "museum", "music", "natural", "network", "new", "news", "night", "office",
	"offers", "oil", "open", "opinion", "orange", "order", "organic", "outdoor", "outlet", "page", "paint", "paper", "parts", "party", "pets",
	"phone", "photo", "pizza", "plan", "plants", "players", "podcast", "policy", "politics", "pool", "portable", "poster", "price", "print",
	"product", "products", "profile", "programme", "project", "property", "public", "questions", "quick", "radio", "rain", "recipe", "record",
	"red", "regional", "rent", "repair", "report", "research", "results", "review", "reviews", "ring", "river", "road", "room", "running",
	"safety", "sale", "salad", "school", "science", "sea", "search", "season", "series", "service", "services", "shirt", "shoes", "shop",
	"silver", "simple", "size", "skin", "small", "smart", "social", "software", "solar", "song", "special", "sport", "spring", "square",
	"stars", "station", "steel", "stone", "store", "story", "street", "student", "style", "summer", "sun", "support", "table", "tags", "tea",
	"team", "technology", "tennis", "terms", "test", "theatre", "tickets", "tips", "tools", "topic", "tour", "toys", "train", "training",
	"travel", "tree", "trend", "university", "update", "user", "vegan", "video", "vintage", "wall", "watch", "water", "weather", "web",
	"weekend", "white", "window", "wine", "winter", "women", "wood", "work", "world", "yellow", "yoga",
}

// sections are what paths begin with.
var sections = []weighted{
	{"blog", 10},
	{"news", 10},
	{"product", 8},
	{"products", 8},
	{"category", 7},
	{"shop", 6},
	{"articles", 5},
	{"wiki", 5},
	{"en", 5},
	{"de", 3},
	{"fr", 2},
	{"tag", 3},
	{"search", 4},
	{"user", 3},
	{"forum", 3},
	{"watch", 2},
	{"docs", 3},
	{"help", 2},
	{"p", 3},
	{"a", 2},
	{"wp-content/uploads", 2},
	{"static", 2},
	{"api/v1", 3},
	{"2025", 2},
	{"2026", 3},
	{"events", 2},
	{"account", 2},
	{"Home", 1},
	{"~user", 1},
}

// extensions end some paths.
var extensions = []weighted{
	{"", 72}, {"/", 10}, {".html", 9}, {".php", 3}, {".htm", 1.5}, {".aspx", 1.5}, {".jpg", 1}, {".pdf", 1}, {".jsp", 0.5}, {".xml", 0.5},
}

// parameters are the names of query parameters other than those of trackers.
var parameters = []weighted{
	{"id", 14},
	{"page", 10},
	{"q", 9},
	{"lang", 5},
	{"sort", 5},
	{"category", 5},
	{"ref", 5},
	{"p", 4},
	{"type", 4},
	{"size", 3},
	{"color", 3},
	{"date", 3},
	{"offset", 2},
	{"limit", 2},
	{"view", 2},
	{"v", 4},
	{"tab", 2},
	{"filter", 2},
	{"sid", 2},
	{"token", 2},
	{"s", 2},
	{"lat", 1},
	{"redirect", 1},
	{"filter[]", 1},
	{"price_min", 1},
	{"variant", 2},
	{"callback", 1},
	{"_", 1},
	{"Itemid", 1},
	{"", 0.2},
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

// countries are where users come from.
var countries = []weighted{
	{"US", 26},
	{"IN", 12},
	{"BR", 6},
	{"GB", 6},
	{"DE", 6},
	{"JP", 6},
	{"FR", 4},
	{"ID", 4},
	{"MX", 3},
	{"CA", 3},
	{"IT", 3},
	{"ES", 3},
	{"KR", 3},
	{"TR", 2},
	{"PL", 2},
	{"NL", 2},
	{"AU", 2},
	{"AR", 1},
	{"SE", 1},
	{"CH", 1},
	{"ZA", 1},
	{"NG", 1},
	{"EG", 1},
	{"VN", 1},
}

// statuses are HTTP status codes.
var statuses = []weighted{
	{"200", 880}, {"301", 25}, {"302", 25}, {"304", 30}, {"400", 3}, {"403", 6}, {"404", 25}, {"429", 2}, {"500", 3}, {"503", 1},
}
