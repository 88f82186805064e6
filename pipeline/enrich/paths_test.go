package enrich

import (
	"fmt"
	"testing"
)

func TestTemplates(t *testing.T) {
	for path, want := range map[string]string{
		"/":      "/",
		"/about": "/about",
		"/users/42/orders/123e4567-e89b-12d3-a456-426614174000": "/users/{id}/orders/{uuid}",
		"/o/01ARZ3NDEKTSV4RRFFQ69G5FAV":                         "/o/{ulid}",
		"/log/2026-11-23":                                       "/log/{date}",
		"/log/2026-11-23T10:00:00Z":                             "/log/{date}",
		"/log/2026-13-23":                                       "/log/{slug}",
		"/h/d41d8cd98f00b204e9800998ecf8427e":                   "/h/{hash}",
		"/h/da39a3ee5e6b4b0d3255bfef95601890afd80709":           "/h/{hash}",
		"/c/3f2a9b1c":                                           "/c/{hex}",
		"/u/jane%40example.com":                                 "/u/{email}",
		"/u/jane@example.com/edit":                              "/u/{email}/edit",
		"/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123":     "/t/{token}",
		"/v/dQw4w9WgXcQ":                                        "/v/{token}",
		"/p/red-shoes-48213":                                    "/p/{slug}",
		"/p/48213-red-shoes":                                    "/p/{slug}",
		"/p/red-shoes-3f2a9b1c":                                 "/p/{slug}",
		"/img/48213.png":                                        "/img/{id}.png",
		"/img/logo.png":                                         "/img/logo.png",
		"/p/red-shoes":                                          "/p/red-shoes",
		"/page/2":                                               "/page/{id}",
		"/iphone-15-pro":                                        "/iphone-15-pro",
		"/v2/api":                                               "/v2/api",
		"/h264/mp3":                                             "/h264/mp3",
		"/a%20b/c":                                              "/a%20b/c",
		"/internationalization-of-names":                        "/internationalization-of-names",
		"//1//":                                                 "//{id}//",
	} {
		if got := string(appendTemplate(nil, []byte(path))); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestTemplateLimit checks that there are never more templates than the limit, and those of one's own, types of pages, and {other}.
func TestTemplateLimit(t *testing.T) {
	o := Default()
	o.PathTemplateLimit = 20
	o.PathTemplates = []string{"/blog/{year}/**"}
	o.PageTypes = []PageType{{"home", []string{"/"}}, {"blog", []string{"/blog", "/blog/**"}}, {"page", []string{"/*"}}}
	var pairs [][2]string
	for _, path := range []string{"/", "/blog/2026/x", "/blog", "/name", "/a/b"} {
		pairs = append(pairs, [2]string{"https://example.com" + path, ""})
	}
	for i := range 200 {
		pairs = append(pairs, [2]string{fmt.Sprintf("https://example.com/%c/%c", 'a'+i%26, 'a'+i/26), ""})
	}
	b := newBatch(t, pairs...)
	b.fill(t, rules(t, o))
	for i, want := range [][2]string{{"/", "home"}, {"/blog/{year}/**", "blog"}, {"/blog", "blog"}, {"/name", "page"}, {"/a/b", "-"}} {
		if got := [2]string{b.at(PathTemplate, i), b.at(PageTypeColumn, i)}; got != want {
			t.Errorf("%s is %q, want %q", pairs[i][0], got, want)
		}
	}
	templates := map[string]bool{}
	for i := range pairs {
		templates[b.at(PathTemplate, i)] = true
	}
	if !templates["{other}"] || len(templates) != o.PathTemplateLimit+1 {
		t.Errorf("there are %d templates of at most %d and {other}", len(templates), o.PathTemplateLimit)
	}
}
