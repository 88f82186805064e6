package lineproto

import (
	"bytes"
	"io"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// FuzzServe passes on what need not be metrics, for a field whose name needs escapes: every byte comes out again, in its order,
// whatever is added.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		"web,host=a url=\"https://a.example/b?c#d\",n=1i 17\nweb url=\"x\"\n", "# comment\n\nweb,url=http://a/ f=\"open\nurl=\n\"", "web url=\"\xff\\\"", "m u\\ r\\,l=\"a:b\"",
	} {
		f.Add([]byte(seed), "url")
		f.Add([]byte(seed), "u r,l")
	}
	f.Fuzz(func(t *testing.T, data []byte, field string) {
		var out bytes.Buffer
		alloctest.Bound(t, len(data), 512*(len(field)+64), 4<<20, func() {
			if err := Serve(bytes.NewReader(data), &out, field); err != nil {
				t.Fatal(err)
			}
		})
		in, all := data, out.Bytes()
		for len(in) > 0 {
			at := bytes.IndexByte(all, in[0])
			if at < 0 {
				t.Fatalf("%q: %q is missing in %q", data, in, out.Bytes())
			}
			in, all = in[1:], all[at+1:]
		}
		if err := Serve(bytes.NewReader(out.Bytes()), io.Discard, field); err != nil {
			t.Fatal(err)
		}
	})
}
