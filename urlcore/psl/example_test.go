package psl_test

import (
	"fmt"
	"strings"

	"github.com/urlmill/urlmill/urlcore/psl"
)

func ExampleList_Lookup() {
	host := []byte("www.example.co.uk")
	suffix, domain, section := psl.Default().Lookup(host)
	fmt.Printf("%s %s %v\n", host[suffix:], host[domain:], section)
	// Output: co.uk example.co.uk icann
}

func ExampleList_LookupICANN() {
	host := []byte("alice.github.io")
	_, domain, _ := psl.Default().Lookup(host)
	fmt.Printf("%s\n", host[domain:])
	_, domain, _ = psl.Default().LookupICANN(host)
	fmt.Printf("%s\n", host[domain:])
	// Output:
	// alice.github.io
	// github.io
}

func ExampleList_LookupString() {
	host := "example.com."
	suffix, domain, _ := psl.Default().LookupString(host)
	fmt.Println(host[suffix:], host[domain:])
	// Output: com. example.com.
}

func ExampleList_PublicSuffix() {
	for _, host := range []string{"example.com", "alice.github.io", "printer.local"} {
		suffix, section := psl.Default().PublicSuffix(host)
		fmt.Println(suffix, section)
	}
	// Output:
	// com icann
	// github.io private
	// local unlisted
}

func ExampleList_RegistrableDomain() {
	fmt.Println(psl.Default().RegistrableDomain("www.city.kobe.jp"))
	fmt.Println(psl.Default().RegistrableDomain("co.uk"))
	// Output:
	// city.kobe.jp true
	//  false
}

func ExampleParse() {
	list, err := psl.Parse(strings.NewReader(`
// VERSION: 2026-01-31
// ===BEGIN ICANN DOMAINS===
example
*.wild.example
!not.wild.example
// ===END ICANN DOMAINS===
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(list.Version(), list.Info().ICANN)
	fmt.Println(list.PublicSuffix("a.b.wild.example"))
	fmt.Println(list.PublicSuffix("a.not.wild.example"))

	_, err = psl.Parse(strings.NewReader("// ===BEGIN ICANN DOMAINS===\ncom\nco m*\n*.*.uk"))
	fmt.Println(err)
	// Output:
	// 2026-01-31 3
	// b.wild.example icann
	// wild.example icann
	// psl: line 4: not a rule: '*' in a name (a wildcard can only be the first label): "*.*.uk"
}

func ExampleSwap() {
	list, err := psl.Parse(strings.NewReader("// ===BEGIN PRIVATE DOMAINS===\nteams.corp.example\n// ===END PRIVATE DOMAINS==="))
	if err != nil {
		fmt.Println(err)
		return
	}
	old := psl.Swap(list)
	defer psl.Swap(old)
	fmt.Println(psl.Default().PublicSuffix("www.red.teams.corp.example"))
	// Output: teams.corp.example private
}
