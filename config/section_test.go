package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// brewery is what a component's options may look like.
type brewery struct {
	Name   string
	Hot    bool
	Cups   int
	Every  time.Duration
	Room   int64
	Kind   string
	Share  float64
	Token  Secret
	Beans  []string
	Labels map[string]string
	Milk   *milk
	Shops  []milk
	Waste  string
	Bin    *milk
}

type milk struct{ Fat int }

func (m *milk) section() Section {
	return Section{Fields: []Field{{Name: "fat", Doc: "Percent.", Value: Int(&m.Fat, 1, 10)}}}
}

func newBrewery() *brewery {
	return &brewery{Name: "house", Cups: 2, Every: time.Minute, Room: 1 << 20, Kind: "drip", Share: 0.5}
}

// section has a value of every kind.
func (b *brewery) section() Section {
	none := func() milk { return milk{Fat: 3} }
	return Section{
		Fields: []Field{
			{Name: "name", Doc: "What it is called.", Value: Text(&b.Name, "house"), Fixed: "it is on the door"},
			{Name: "hot", Doc: "Whether it is.", Value: Bool(&b.Hot), Live: true},
			{Name: "cups", Doc: "How many.", Value: Int(&b.Cups, 1, 9), Example: "cups: 2"},
			{Name: "every", Doc: "How often.", Value: Duration(&b.Every, time.Second, time.Hour)},
			{Name: "room", Doc: "How much.", Value: Size(&b.Room, 1, 1<<30)},
			{Name: "kind", Doc: "Which.", Value: Names(&b.Kind, "drip", "press")},
			{Name: "share", Doc: "Of all.", Value: Number(&b.Share, 0, 1, "a share from 0 to 1")},
			{Name: "token", Doc: "Who may.", Value: SecretText(&b.Token)},
			{Name: "beans", Doc: "Of what.", Value: Texts(&b.Beans, "[arabica]")},
			{Name: "labels", Doc: "More.", Value: Pairs(&b.Labels, "a text", "{a: b}")},
			{Name: "milk", Doc: "With it.", Value: Optional(&b.Milk, none, (*milk).section)},
			{Name: "shops", Doc: "Where.", Value: List(&b.Shops, none, "[{fat: 3}]", (*milk).section)},
			{Name: "waste", Doc: "Where it goes.", Value: TextOr(&b.Waste, Field{Name: "bin", Doc: "A bin.", Value: Optional(&b.Bin, none, (*milk).section)}, "a place")},
		},
		Check: func(c *Check) {
			if b.Cups == 7 {
				c.Conflict("cups", []string{"hot"}, "%s is seven", c.Path("cups"))
			}
		},
	}
}

// root has it below a key, as components are.
func root(b *brewery) Section {
	return Section{Fields: []Field{{Name: "brewery", Doc: "A brewery.", Value: Map(b.section()), Fixed: "it is built"}}}
}

const everything = `
brewery:
  {name: "${NAME}", hot: true, cups: 3, every: 5s, room: 2MiB, kind: press, share: 0.25, token: "${TOKEN}",
   beans: "${BEANS}", labels: {a: b}, milk: {}, shops: [{fat: 1}, {}], waste: {bin: {fat: 9}}}
`

func variables(values map[string]string) Env {
	return Env{Lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
}

func parseBrewery(t *testing.T, text string) (*brewery, *Document) {
	t.Helper()
	b := newBrewery()
	d, err := Parse("b.yaml", []byte(text), variables(map[string]string{"NAME": "e", "TOKEN": theSecret, "BEANS": "x, y"}), root(b))
	if err != nil {
		t.Fatal(err)
	}
	return b, d
}

func TestEveryKindOfValue(t *testing.T) {
	got, _ := parseBrewery(t, everything)
	want := &brewery{
		Name: "e", Hot: true, Cups: 3, Every: 5 * time.Second, Room: 2 << 20, Kind: "press", Share: 0.25, Token: theSecret,
		Beans: []string{"x", "y"}, Labels: map[string]string{"a": "b"}, Milk: &milk{Fat: 3}, Shops: []milk{{Fat: 1}, {Fat: 3}}, Bin: &milk{Fat: 9},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSettings(t *testing.T) {
	b, _ := parseBrewery(t, everything)
	want := []Setting{
		{"brewery.name", "e"},
		{"brewery.hot", "true"},
		{"brewery.cups", "3"},
		{"brewery.every", "5s"},
		{"brewery.room", "2MiB"},
		{"brewery.kind", "press"},
		{"brewery.share", "0.25"},
		{"brewery.token", redacted},
		{"brewery.beans", "[x, y]"},
		{"brewery.labels", "{a: b}"},
		{"brewery.milk.fat", "3"},
		{"brewery.shops", "2 items"},
		{"brewery.waste.bin.fat", "9"},
	}
	if diff := cmp.Diff(want, Settings(root(b))); diff != "" {
		t.Error(diff)
	}
}

func TestChanges(t *testing.T) {
	before, _ := parseBrewery(t, "brewery: {cups: 1, milk: {}, waste: {bin: {}}}")
	for text, want := range map[string][][2]string{
		"brewery: {cups: 1, milk: {}, waste: {bin: {}}, name: house}":          nil,
		"brewery: {cups: 1, milk: {}, waste: {bin: {}}, name: other}":          {{"brewery.name", "it is on the door"}},
		"brewery: {cups: 1, milk: {}, waste: {bin: {}}, hot: true}":            {{"brewery.hot", ""}},
		"brewery: {cups: 2, milk: {fat: 1}, waste: {bin: {}}, shops: [{}]}":    {{"brewery.cups", "it is built"}, {"brewery.milk.fat", "it is built"}, {"brewery.shops", "it is built"}},
		"brewery: {cups: 1, waste: here}":                                      {{"brewery.milk", "it is built"}, {"brewery.waste", "it is built"}},
		"brewery: {cups: 1, milk: {}, waste: {bin: {fat: 1}}, token: a}":       {{"brewery.token", "it is built"}, {"brewery.waste", "it is built"}},
		"brewery: {cups: 1, milk: {}, waste: {bin: {}}, labels: {x: y}}":       {{"brewery.labels", "it is built"}},
		"brewery: {cups: 1, milk: {}, waste: {bin: {}}, beans: [a], room: 3B}": {{"brewery.room", "it is built"}, {"brewery.beans", "it is built"}},
	} {
		after, _ := parseBrewery(t, text)
		var got [][2]string
		for _, c := range Changes(root(before), root(after)) {
			got = append(got, [2]string{c.Path, c.Reason})
			if c.Path == "brewery.token" && c.To != redacted || c.Path == "brewery.cups" && (c.From != "1" || c.To != "2") {
				t.Errorf("%+v", c)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestProblemsOfSections(t *testing.T) {
	for text, want := range map[string]string{
		"brewery: {cups: 7}":                    "b.yaml:1:17: brewery.cups is seven",
		"brewery: {cups: 7, hot: maybe}":        `b.yaml:1:25: hot is the text "maybe"; give true or false`,
		"brewery: {}":                           `b.yaml:1:1: brewery has no "cups"; add it, such as cups: 2`,
		"brewery: {cups: 1, beans: [a, a]}":     "b.yaml:1:31: beans[1] is in the list twice; take one of them out",
		"brewery: {cups: 1, beans: '${TWICE}'}": `b.yaml:1:27: beans: item 2 of the value of "${TWICE}" is in the list twice; take one of them out`,
		"brewery: {cups: 1, cusp: 1}":           `b.yaml:1:20: unknown key "cusp" in brewery; did you mean "cups"?`,
		"brewery: {cups: 1, fat: 1}":            `b.yaml:1:20: unknown key "fat" in brewery; it belongs in brewery.milk`,
		"brewery: {cups: 0100}":                 `b.yaml:1:17: cups is the number 0100; give a whole number from 1 to 9, without a zero before it`,
		"brewery: {cups: 1, waste: {fat: 1}}":   "b.yaml:1:27: waste is a mapping without bin; give a place",
	} {
		_, err := Parse("b.yaml", []byte(text), variables(map[string]string{"TWICE": "a,a"}), root(newBrewery()))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestProblemHidesValues checks that what was put in for a variable is hidden where it is quoted, and that nothing else of a
// message changes.
func TestProblemHidesValues(t *testing.T) {
	_, d := parseBrewery(t, everything)
	if got := d.Problem("brewery.name", "name: %q is taken in the urlmill house", "e").Message; got != `name: "${NAME}" is taken in the urlmill house` {
		t.Error(got)
	}
	for value, want := range map[string]string{
		"hunter2":   "log in as ${V}, not hunter22; see /a/b in house",
		"/a/b":      "log in as hunter2, not hunter22; see ${V} in house",
		"in":        "log in as hunter2, not hunter22; see /a/b in house",
		"hunter2, ": "log in as ${V}not hunter22; see /a/b in house",
	} {
		if got := (expansion{source: "${V}", value: value}).hide("log in as hunter2, not hunter22; see /a/b in house"); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// TestSurfaces checks that a key is in all that is made of sections.
func TestSurfaces(t *testing.T) {
	r := root(newBrewery())
	reference, schema := string(Reference(r)), JSONSchema(r)
	for _, k := range Keys(r) {
		if !strings.Contains(reference, k.Doc) || !strings.Contains(string(schema), k.Doc) {
			t.Errorf("%s is missing in the reference or the schema", k.Path)
		}
	}
	var any map[string]any
	if err := json.Unmarshal(schema, &any); err != nil {
		t.Error(err)
	}
}
