package form_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/form"
)

func ExampleNext() {
	query := []byte("utm_source=news%20letter&utm_medium&q=a+b")
	var buffer []byte
	for name, value, rest, ok := form.Next(query); ok; name, value, rest, ok = form.Next(rest) {
		buffer = form.AppendDecode(buffer[:0], value)
		fmt.Printf("%s: %q\n", name, buffer)
	}
	// Output:
	// utm_source: "news letter"
	// utm_medium: ""
	// q: "a b"
}

func ExampleAppendDecode() {
	fmt.Printf("%s\n", form.AppendDecode([]byte("q="), []byte("caf%C3%A9+%2B+%FF")))
	// Output: q=café + �
}

func ExampleAppendDecodeBytes() {
	raw := form.AppendDecodeBytes(nil, []byte("%83A+%E9"))
	fmt.Printf("% x\n", raw)
	fmt.Printf("%s\n", charset.Windows1252.AppendDecode(nil, raw))
	// Output:
	// 83 41 20 e9
	// ƒA é
}

func ExampleIsPlain() {
	fmt.Println(form.IsPlain([]byte("nothing-to-decode")), form.IsPlain([]byte("a+b")))
	// Output: true false
}

func ExampleParse() {
	for _, pair := range form.Parse("a=1&b=%26&c") {
		fmt.Printf("%q=%q\n", pair.Name, pair.Value)
	}
	// Output:
	// "a"="1"
	// "b"="&"
	// "c"=""
}

func ExampleAppendParse() {
	pairs := form.AppendParse(nil, []byte("a=%E3%81%82&a=x"))
	fmt.Println(pairs)
	// Output: [{a あ} {a x}]
}

func ExampleCharsetField() {
	fmt.Println(form.CharsetField([]byte("name=x&_charset_=windows-1252")))
	// Output: windows-1252 true
}

func ExampleAppendPairs() {
	fmt.Printf("%s\n", form.AppendPairs(nil, []form.Pair{{Name: "a b", Value: "c&d"}, {Name: "é", Value: ""}}))
	// Output: a+b=c%26d&%C3%A9=
}

func ExampleAppendEncode() {
	fmt.Printf("%s\n", form.AppendEncode(nil, []byte("1 + 1 = 2")))
	// Output: 1+%2B+1+%3D+2
}

func ExampleSerializer() {
	pairs := []form.Pair{{Name: "subject", Value: "a b"}, {Name: "body", Value: "é"}}
	fmt.Printf("%s\n", (&form.Serializer{SpaceAsPercent20: true}).AppendPairs(nil, pairs))
	fmt.Printf("%s\n", (&form.Serializer{Encoding: charset.Windows1252}).AppendPairs(nil, pairs))
	// Output:
	// subject=a%20b&body=%C3%A9
	// subject=a+b&body=%E9
}

func ExampleParams() {
	p := form.New("?b=2&a=1&b=3")
	p.Append("c", "4")
	p.Set("b", "5")
	p.Sort()
	fmt.Println(p, p.Len(), p.Has("b"), p.GetAll("b"))
	// Output: a=1&b=5&c=4 3 true [5]
}

func ExampleFromSequence() {
	_, err := form.FromSequence([][]string{{"a", "1"}, {"b"}})
	fmt.Println(err)
	// Output: form: not a pair of name and value: item 1 has 1 strings
}

func ExampleFromRecord() {
	m := map[string]string{"b": "2", "a": "1"}
	p := form.FromRecord(func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	})
	fmt.Println(p)
	// Output: a=1&b=2
}

func ExampleFromPairs() {
	fmt.Println(form.FromPairs(form.Pair{Name: "a", Value: "1"}, form.Pair{Name: "a", Value: "2"}))
	// Output: a=1&a=2
}

func ExampleParams_Get() {
	p := form.New("a=&b=2")
	fmt.Println(p.Get("a"))
	fmt.Println(p.Get("c"))
	// Output:
	//  true
	//  false
}

func ExampleParams_DeleteValue() {
	p := form.New("a=1&a=2&b=1")
	p.DeleteValue("a", "1")
	fmt.Println(p, p.HasValue("a", "2"), p.HasValue("a", "1"))
	p.Delete("a")
	fmt.Println(p)
	// Output:
	// a=2&b=1 true false
	// b=1
}

func ExampleParams_Bind() {
	query := "a=1"
	p := form.New(query)
	p.Bind(func(p *form.Params) { query = p.String() })
	p.Append("b", "2 3")
	fmt.Println(query)
	// Output: a=1&b=2+3
}

func ExampleParams_All() {
	for name, value := range form.New("a=1&b=2").All() {
		fmt.Println(name, value)
	}
	// Output:
	// a 1
	// b 2
}

func ExampleParams_Iterator() {
	p := form.New("a=1")
	it := p.Iterator()
	fmt.Println(it.Next())
	p.Append("b", "2")
	fmt.Println(it.Next())
	// Output:
	// {a 1} true
	// {b 2} true
}

func ExampleCompareUTF16() {
	fmt.Println(form.CompareUTF16("\U0001F308", "\uFB03"), "\U0001F308" < "\uFB03")
	// Output: -1 false
}
