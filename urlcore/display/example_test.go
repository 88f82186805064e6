package display_test

import (
	"fmt"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/display"
)

func ExampleString() {
	u := urlcore.MustParse("https://me:secret@www.xn--bcher-kva.example:8443/%E6%97%A5%E6%9C%AC%20?q=%F0%9F%94%92")
	fmt.Println(display.String(u, display.Options{}))
	fmt.Println(display.String(u, display.Options{Form: display.Origin}))
	fmt.Println(display.String(u, display.Options{Form: display.ShortHost}))
	fmt.Println(display.String(u, display.Options{OmitScheme: true, ASCIIHost: true, KeepEscapes: true}))
	// Output:
	// https://www.bücher.example:8443/日本%20?q=%F0%9F%94%92
	// https://www.bücher.example:8443
	// bücher.example
	// www.xn--bcher-kva.example:8443/%E6%97%A5%E6%9C%AC%20?q=%F0%9F%94%92
}

func ExampleRender() {
	u := urlcore.MustParse("https://examplecorp.com.evil.example/login")
	for _, limit := range []int{60, 40, 30, 10} {
		r := display.Render(u, display.Options{Limit: limit})
		fmt.Printf("%s (%s)\n", r.Text, r.Text[r.Domain.Start:r.Domain.End])
	}
	// Output:
	// https://examplecorp.com.evil.example/login (evil.example)
	// https://examplecorp.com.evil.example/lo… (evil.example)
	// https://…com.evil.example (evil.example)
	// https://…evil.example (evil.example)
}

func ExampleRender_hints() {
	u := urlcore.MustParse("https://аррӏе.com/") // Cyrillic
	r := display.Render(u, display.Options{ASCIISuspicious: true})
	fmt.Println(r.Text, r.Hints)
	// Output: https://xn--80ak6aa92e.com/ looks-ascii
}

func ExampleAppendDecoded() {
	fmt.Printf("%s\n", display.AppendDecoded(nil, []byte("/caf%C3%A9%2F%E2%80%AE")))
	// Output: /café%2F%E2%80%AE
}

func ExampleInspect() {
	fmt.Println(display.Inspect("gооgle.com")) // two letters are Cyrillic
	fmt.Println(display.Inspect("日本語abc.jp") == 0)
	// Output:
	// mixed-scripts,looks-ascii
	// true
}

func ExampleLooksLike() {
	like, ok := display.LooksLike("раураӏ")
	fmt.Println(like, ok)
	// Output: paypal true
}

func ExampleColumns() {
	fmt.Println(display.Columns("abc"), display.Columns("日本"))
	// Output: 3 4
}
