package percent_test

import (
	"fmt"

	"github.com/urlmill/urlmill/urlcore/percent"
)

func ExampleEncodeURI() {
	fmt.Println(percent.EncodeURI("https://example.com/été [1]?q=50%"))
	// Output: https://example.com/%C3%A9t%C3%A9%20%5B1%5D?q=50%25
}

func ExampleEncodeURIComponent() {
	fmt.Println(percent.EncodeURIComponent("a/b & c"))
	// Output: a%2Fb%20%26%20c
}

func ExampleDecodeURI() {
	fmt.Println(percent.DecodeURI("%C3%A9t%C3%A9%2f%3F"))
	_, err := percent.DecodeURI("%C3%A9 100%")
	fmt.Println(err)
	// Output:
	// été%2f%3F <nil>
	// percent: decodeURI: percent sign without two hexadecimal digits at position 10
}

func ExampleDecodeURIComponent() {
	fmt.Println(percent.DecodeURIComponent("a%2Fb+c"))
	_, err := percent.DecodeURIComponent("%FF")
	fmt.Println(err)
	// Output:
	// a/b+c <nil>
	// percent: decodeURIComponent: percent-encoded bytes are no UTF-8 at position 0
}

func ExampleAppendEncodeURIComponent16() {
	encoded, err := percent.AppendEncodeURIComponent16(nil, []uint16{'a', ' ', 0xD83D, 0xDE00})
	for _, u := range encoded {
		fmt.Printf("%c", u)
	}
	fmt.Println(err)
	_, err = percent.AppendEncodeURIComponent16(nil, []uint16{'a', 0xD83D})
	fmt.Println(err)
	// Output:
	// a%20%F0%9F%98%80<nil>
	// percent: encodeURIComponent: lone surrogate at position 1
}

func ExampleEscape() {
	fmt.Println(percent.Escape("é + あ"))
	// Output: %E9%20+%20%u3042
}

func ExampleUnescape() {
	fmt.Println(percent.Unescape("%E9 %u3042 %zz"))
	// Output: é あ %zz
}

func ExampleEncodeOAuth() {
	fmt.Println(percent.EncodeOAuth("Ladies + Gentlemen!"))
	fmt.Printf("%s\n", percent.DecodeOAuth("Ladies%20+%20Gentlemen%21"))
	// Output:
	// Ladies%20%2B%20Gentlemen%21
	// Ladies + Gentlemen!
}

func ExampleAppendALPN() {
	fmt.Printf("%s\n", percent.AppendALPN(nil, []byte("http/1.1")))
	fmt.Println(percent.IsALPN("http%2F1.1"), percent.IsALPN("http%2f1.1"))
	// Output:
	// http%2F1.1
	// true false
}

func ExampleAppendExtValue() {
	value, err := percent.AppendExtValue([]byte("filename*="), "en", "€ rates")
	fmt.Printf("%s %v\n", value, err)
	// Output: filename*=UTF-8'en'%E2%82%AC%20rates <nil>
}

func ExampleParseExtValue() {
	v, err := percent.ParseExtValue("iso-8859-1'en'%A3%20rates")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := v.Text()
	fmt.Println(v.Charset, v.Language, text, err)
	_, err = percent.ParseExtValue("UTF-8''a b")
	fmt.Println(err)
	// Output:
	// iso-8859-1 en £ rates <nil>
	// percent: ext-value: character that has to be percent-encoded at position 8
}

func ExampleEncodeTemplateSimple() {
	fmt.Println(percent.EncodeTemplateSimple("50% off/today"))
	fmt.Println(percent.EncodeTemplateReserved("50% off/%74oday"))
	// Output:
	// 50%25%20off%2Ftoday
	// 50%25%20off/%74oday
}

func ExampleCGISet() {
	set, err := percent.CGISet("/?")
	fmt.Println(percent.Encode("a b/c?d;e", &set), err)
	_, err = percent.CGISet("x")
	fmt.Println(err)
	// Output:
	// a%20b%2Fc%3Fd;e <nil>
	// percent: CGI reserved characters: character that has to be percent-encoded at position 0
}

func ExampleFixUp() {
	text := "/50% off/%E2%82%AC"
	fmt.Println(percent.FixUp(text, &percent.Path))
	fmt.Println(percent.FixUp(percent.FixUp(text, &percent.Path), &percent.Path))
	fmt.Println(percent.Encode(text, &percent.Component))
	// Output:
	// /50%25%20off/%E2%82%AC
	// /50%25%20off/%E2%82%AC
	// %2F50%25%20off%2F%25E2%2582%25AC
}

func ExampleIRIToURI() {
	fmt.Println(percent.IRIToURI("https://example.com/été?q=a b"))
	// Output: https://example.com/%C3%A9t%C3%A9?q=a b
}

func ExampleAppendDecodeStrict() {
	text, err := percent.AppendDecodeStrict(nil, []byte("a%20b"))
	fmt.Printf("%s %v\n", text, err)
	_, err = percent.AppendDecodeStrict(nil, []byte("100%"))
	fmt.Println(err)
	// Output:
	// a b <nil>
	// percent: percent-decode: percent sign without two hexadecimal digits at position 3
}

func ExampleCheckUTF8() {
	fmt.Println(percent.CheckUTF8([]byte("/caf%C3%A9")))
	fmt.Println(percent.CheckUTF8([]byte("/caf%E9")))
	// Output:
	// <nil>
	// percent: check for UTF-8: percent-encoded bytes are no UTF-8 at position 4
}

func ExampleNextNotation() {
	text := []byte("100%% of %s at %u20AC%31")
	for {
		start, end, n := percent.NextNotation(text)
		if n == percent.NotationNone {
			break
		}
		fmt.Printf("%s: %v\n", text[start:end], n)
		text = text[end:]
	}
	// Output:
	// %%: double
	// %s: directive
	// %u20AC: unicode
	// %31: triplet
}

func ExamplePlusIn() {
	for _, part := range []percent.Part{percent.PartPath, percent.PartQuery} {
		plus := percent.PlusIn("https", part)
		fmt.Printf("%v: %s\n", plus, percent.AppendDecodePlus(nil, []byte("a+b%2Bc"), plus))
	}
	// Output:
	// plain: a+b+c
	// form-urlencoded: a b+c
}

func ExampleSets() {
	for _, s := range percent.Sets() {
		if percent.Path.SubsetOf(s.Set) {
			fmt.Printf("%s: %q\n", s.Name, s.Set.Minus(percent.Path).Printable())
		}
	}
	// Output:
	// path: ""
	// userinfo: "/:;=@[\\]|"
	// component: "$%&+,/:;=@[\\]|"
	// application/x-www-form-urlencoded: "!$%&'()+,/:;=@[\\]|~"
	// encodeURIComponent: "$%&+,/:;=@[\\]|"
	// escape: "!$%&'(),:;=[\\]|~"
	// OAuth 1.0: "!$%&'()*+,/:;=@[\\]|"
	// URI Template simple: "!$%&'()*+,/:;=@[\\]|"
}
