package form

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// record gives names and values that follow each other.
func record(s ...string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := 0; i < len(s); i += 2 {
			if !yield(s[i], s[i+1]) {
				return
			}
		}
	}
}

func TestConstructors(t *testing.T) {
	sequence, err := FromSequence([][]string{{"a", "1"}, {"\xFF", "2"}})
	if err != nil {
		t.Fatal(err)
	}
	original := New("a=1")
	clone := original.Clone()
	original.Append("b", "2")
	for _, c := range []struct {
		name string
		p    *Params
		want string
	}{
		{"zero", &Params{}, ""},
		{"string", New("a=1&b=2"), "a=1&b=2"},
		{"question mark", New("?a=1"), "a=1"},
		{"two question marks", New("??a=1"), "%3Fa=1"},
		{"pairs", FromPairs(Pair{"a", "1"}, Pair{"a", "\xC2"}), "a=1&a=%EF%BF%BD"},
		{"sequence", sequence, "a=1&%EF%BF%BD=2"},
		{"record", FromRecord(record("b", "1", "a", "2", "b", "3")), "b=3&a=2"},
		{"record of ill-formed names", FromRecord(record("\xFFx", "1", "xx", "2", "\xFEx", "3")), "%EF%BF%BDx=3&xx=2"},
		{"map", FromRecord(maps.All(map[string]string{"a": "b"})), "a=b"},
		{"clone", clone, "a=1"},
		{"original", original, "a=1&b=2"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, bad := range [][][]string{{{}}, {{"a"}}, {{"a", "b"}, {"a", "b", "c"}}} {
		if p, err := FromSequence(bad); !errors.Is(err, ErrPair) || p != nil {
			t.Errorf("FromSequence(%q): %v, %v", bad, p, err)
		}
	}
}

func TestMethods(t *testing.T) {
	p := New("a=1&b=2&a=3&c=4&a=5")
	if v, ok := p.Get("a"); v != "1" || !ok {
		t.Errorf("Get: %q, %v", v, ok)
	}
	if v, ok := p.Get("d"); v != "" || ok {
		t.Errorf("Get of nothing: %q, %v", v, ok)
	}
	if v := p.GetAll("a"); !slices.Equal(v, []string{"1", "3", "5"}) {
		t.Errorf("GetAll: %q", v)
	}
	if v := p.GetAll("d"); v != nil {
		t.Errorf("GetAll of nothing: %q", v)
	}
	if !p.Has("c") || p.Has("d") || !p.HasValue("a", "3") || p.HasValue("a", "2") {
		t.Error("Has or HasValue")
	}
	p.Set("a", "x")
	if got := p.String(); got != "a=x&b=2&c=4" {
		t.Errorf("Set: %s", got)
	}
	p.Set("d", "\xFF")
	p.DeleteValue("b", "3")
	p.DeleteValue("c", "4")
	if got := p.String(); got != "a=x&b=2&d=%EF%BF%BD" || p.Len() != 3 || p.At(1) != (Pair{"b", "2"}) {
		t.Errorf("DeleteValue: %s", got)
	}
	p.Delete("a")
	p.Append("\xC2", "")
	if !p.Has("\uFFFD") || !p.Has("\xFF") {
		t.Error("ill-formed names are not the same as U+FFFD")
	}
	if got := p.String(); got != "b=2&d=%EF%BF%BD&%EF%BF%BD=" {
		t.Errorf("at the end: %s", got)
	}
}

// TestBind checks that every method that may change the list calls the function, and the others do not.
func TestBind(t *testing.T) {
	p := New("a=1&b=2")
	calls, last := 0, ""
	p.Bind(func(p *Params) { calls, last = calls+1, p.String() })
	for i, c := range []struct {
		change func()
		want   string
	}{
		{func() { p.Append("c", "3") }, "a=1&b=2&c=3"},
		{func() { p.Delete("none") }, "a=1&b=2&c=3"},
		{func() { p.Delete("a") }, "b=2&c=3"},
		{func() { p.DeleteValue("b", "none") }, "b=2&c=3"},
		{func() { p.Set("b", "x") }, "b=x&c=3"},
		{func() { p.Set("a", "y") }, "b=x&c=3&a=y"},
		{func() { p.Sort() }, "a=y&b=x&c=3"},
	} {
		c.change()
		if calls != i+1 || last != c.want {
			t.Errorf("change %d: %d calls, %q, want %q", i, calls, last, c.want)
		}
	}
	calls = 0
	p.SetQuery([]byte("z=1"))
	p.Get("z")
	p.GetAll("z")
	p.Has("z")
	for range p.All() {
		p.Len()
	}
	p.Clone().Append("not", "bound")
	p.Bind(nil)
	p.Append("y", "2")
	if got := p.String(); calls != 0 || got != "z=1&y=2" {
		t.Errorf("%d calls, %s", calls, got)
	}
}

func TestIterationIsLive(t *testing.T) {
	p := New("a=1&b=2&c=3&d=4")
	var names, values []string
	for name := range p.Keys() {
		names = append(names, name)
		if name == "a" {
			p.Delete("a") // b moves to the index of a, so c is next
		}
		if name == "d" && p.Len() == 3 {
			p.Append("e", "5")
		}
	}
	for value := range p.Values() {
		values = append(values, value)
	}
	if got := strings.Join(names, "") + strings.Join(values, ""); got != "acde2345" {
		t.Errorf("got %s", got)
	}
	it := p.Iterator()
	for range 4 {
		if _, ok := it.Next(); !ok {
			t.Fatal("ended early")
		}
	}
	if pair, ok := it.Next(); ok {
		t.Errorf("more: %q", pair)
	}
	p.Append("f", "6")
	if pair, ok := it.Next(); !ok || pair != (Pair{"f", "6"}) {
		t.Errorf("after the end: %q, %v", pair, ok)
	}
	p.SetQuery(nil)
	if _, ok := it.Next(); ok {
		t.Error("not at the end of the empty list")
	}
}

func TestIterationStops(t *testing.T) {
	p := New("a=1&b=2")
	n := 0
	for range p.All() {
		n++
		break
	}
	for range p.Keys() {
		n++
		break
	}
	for range p.Values() {
		n++
		break
	}
	if n != 3 {
		t.Errorf("%d steps", n)
	}
}

// naiveCompare compares as the standard says, by code units.
func naiveCompare(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func TestCompareUTF16(t *testing.T) {
	units := []string{
		"", "a", "b", "é", "\u07FF", "\u0800", "\uD7FF", "\uE000", "\uEFFF", "\uF000", "\uFB03", "\uFFFF",
		"\U00010000", "\U0001F308", "\U0003FFFF", "\U00040000", "\U0010FFFF",
	}
	for _, a := range units {
		for _, b := range units {
			for _, tail := range units {
				for _, pair := range [][2]string{{a + tail, b}, {tail + a, tail + b}, {a, b + tail}} {
					if got, want := CompareUTF16(pair[0], pair[1]), naiveCompare(pair[0], pair[1]); got != want {
						t.Fatalf("CompareUTF16(%q, %q) = %d, want %d", pair[0], pair[1], got, want)
					}
				}
			}
		}
	}
}

// TestModel runs random operations on a Params and on a plain list side by side.
func TestModel(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "b", "é", "\uFB03", "\U0001F308", "a b", "&", "="})
	rapid.Check(t, func(t *rapid.T) {
		p := &Params{}
		var model []Pair
		without := func(match func(Pair) bool) []Pair {
			var kept []Pair
			for _, pair := range model {
				if !match(pair) {
					kept = append(kept, pair)
				}
			}
			return kept
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				pair := Pair{text.Draw(t, "name"), text.Draw(t, "value")}
				p.Append(pair.Name, pair.Value)
				model = append(model, pair)
			},
			"delete": func(t *rapid.T) {
				name := text.Draw(t, "name")
				p.Delete(name)
				model = without(func(pair Pair) bool { return pair.Name == name })
			},
			"delete value": func(t *rapid.T) {
				pair := Pair{text.Draw(t, "name"), text.Draw(t, "value")}
				p.DeleteValue(pair.Name, pair.Value)
				model = without(func(other Pair) bool { return other == pair })
			},
			"set": func(t *rapid.T) {
				pair := Pair{text.Draw(t, "name"), text.Draw(t, "value")}
				p.Set(pair.Name, pair.Value)
				done := false
				for i := range model {
					if model[i].Name == pair.Name && !done {
						model[i].Value, done = pair.Value, true
					}
				}
				if !done {
					model = append(model, pair)
				} else {
					first := true
					model = without(func(other Pair) bool {
						if other.Name != pair.Name {
							return false
						}
						gone := !first
						first = false
						return gone
					})
				}
			},
			"sort": func(*rapid.T) {
				p.Sort()
				slices.SortStableFunc(model, func(a, b Pair) int { return naiveCompare(a.Name, b.Name) })
			},
			"round trip": func(*rapid.T) { p.SetQuery([]byte(p.String())) },
			"": func(t *rapid.T) {
				if !slices.Equal(p.pairs, model) {
					t.Fatalf("list %q, want %q", p.pairs, model)
				}
			},
		})
	})
}

func FuzzCompareUTF16(f *testing.F) {
	f.Add("\uFB03", "\U0001F308")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = scalars(a), scalars(b)
		if got, want := CompareUTF16(a, b), naiveCompare(a, b); got != want || got != cmp.Compare(0, CompareUTF16(b, a)) {
			t.Errorf("CompareUTF16(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}
