package charset_test

import (
	"errors"
	"fmt"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

func ExampleLookup() {
	e, ok := charset.Lookup(" Latin1\n")
	fmt.Println(e, ok)
	_, ok = charset.Lookup("latin-one")
	fmt.Println(ok)
	// Output:
	// windows-1252 true
	// false
}

func ExampleEncoding_Output() {
	fmt.Println(charset.UTF16LE.Output(), charset.ShiftJIS.Output())
	// Output: UTF-8 Shift_JIS
}

func ExampleSniffBOM() {
	e, n := charset.SniffBOM([]byte("\xFF\xFEa\x00"))
	fmt.Println(e, n)
	// Output: UTF-16LE 2
}

func ExampleAppendDecode() {
	text, used := charset.AppendDecode(nil, []byte("\xEF\xBB\xBFna\xC3\xAFve"), charset.Windows1252)
	fmt.Printf("%s, from %s\n", text, used)
	text, used = charset.AppendDecode(nil, []byte("na\xEFve"), charset.Windows1252)
	fmt.Printf("%s, from %s\n", text, used)
	// Output:
	// naïve, from UTF-8
	// naïve, from windows-1252
}

func ExampleAppendUTF8() {
	fmt.Printf("%q\n", charset.AppendUTF8(nil, []byte("a\xF0\x9Fb")))
	// Output: "a�b"
}

func ExampleAppendUTF8WithBOM() {
	fmt.Printf("%q\n", charset.AppendUTF8WithBOM(nil, []byte("\xEF\xBB\xBFab")))
	// Output: "ab"
}

func ExampleAppendUTF8OrFail() {
	_, err := charset.AppendUTF8OrFail(nil, []byte("a\xFF"))
	fmt.Println(err)
	// Output: charset: byte 1: not text in UTF-8; decode with replacement to go on after it
}

func ExampleAppendIsomorphicDecode() {
	fmt.Printf("%q\n", charset.AppendIsomorphicDecode(nil, []byte("caf\xE9")))
	// Output: "café"
}

func ExampleEncoding_AppendDecode() {
	fmt.Printf("%s\n", charset.ShiftJIS.AppendDecode(nil, []byte("\x93\xFA\x96\x7B")))
	// Output: 日本
}

func ExampleEncoding_AppendDecodeOrFail() {
	_, err := charset.EUCKR.AppendDecodeOrFail(nil, []byte("ab\x80"))
	var e *charset.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, "at", e.Pos)
	}
	// Output: ill-formed at 2
}

func ExampleEncoding_AppendEncode() {
	out, _ := charset.Windows1252.AppendEncode(nil, []byte("é☃"), charset.HTML)
	fmt.Printf("%q\n", out)
	_, err := charset.Windows1252.AppendEncode(nil, []byte("é☃"), charset.Fatal)
	fmt.Println(err)
	// Output:
	// "\xe9&#9731;"
	// charset: byte 2: U+2603 is not in windows-1252; encode to UTF-8 or in the html error mode
}

func ExampleAppendPercentEncode() {
	q := charset.AppendPercentEncode(nil, []byte("日本 ☃"), charset.ISO2022JP, &percent.SpecialQuery, false)
	fmt.Printf("%s\n", q)
	// Output: %1B$BF|K\%1B(B%20%26%239731%3B
}

func ExampleDecoder() {
	d, err := charset.NewTextDecoder("shift_jis", charset.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var text []byte
	for _, chunk := range []string{"\x93", "\xFA\x96", "\x7B"} { // the chunks split both characters
		text, _ = d.AppendDecode(text, []byte(chunk), true) // only the option Fatal has errors
	}
	text, _ = d.AppendDecode(text, nil, false)
	fmt.Printf("%s\n", text)
	// Output: 日本
}

func ExampleEncoder() {
	enc, err := charset.ISO2022JP.NewEncoder(charset.HTML)
	if err != nil {
		fmt.Println(err)
		return
	}
	var out []byte
	for _, chunk := range []string{"日", "本"} {
		out, _ = enc.AppendEncode(out, []byte(chunk), true)
	}
	out, _ = enc.AppendEncode(out, nil, false)
	fmt.Printf("%q\n", out)
	// Output: "\x1b$BF|K\\\x1b(B"
}

func ExampleDetermine() {
	e, source := charset.Determine(charset.Evidence{
		Start:     []byte("<!doctype html>"),
		Transport: charset.ShiftJIS,
		Prescan:   charset.UTF8,
	})
	fmt.Println(e, source == charset.FromTransport)
	// Output: Shift_JIS true
}

func ExampleContext_Rule() {
	rule, _ := charset.InForm.Rule()
	fmt.Println(rule.Algorithm)
	// Output: UTF-8 decode without BOM
}
