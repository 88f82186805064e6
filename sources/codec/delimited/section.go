package delimited

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// DefaultSeparator is what stands between values where nothing else is said.
const DefaultSeparator = ','

// types are those of values. A value is no JSON, since that has commas and quotes of its own.
var types = pipeline.FieldTypes()[:pipeline.JSON]

// Kind is the codec of delimited lines.
var Kind = codec.Kind{Name: "delimited", Doc: "A line of values with a separator between, such as CSV.", New: func() codec.Options {
	return &Options{Separator: DefaultSeparator}
}}

// Section implements [codec.Options].
func (o *Options) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "separator", Doc: "What stands between values.", Value: separator(&o.Separator)},
		{Name: "columns", Doc: "Names of the columns. Not set: the first line has them.", Value: config.Texts(&o.Columns, "[time, url, user]")},
		{Name: "url", Doc: "Column with the URL.", Value: config.Text(&o.URL, "url"), Example: "url: url"},
		{Name: "base", Doc: "Column with what a relative URL is resolved against.", Value: config.Text(&o.Base, "page")},
		{Name: "carry", Doc: "Other columns of the input, which become columns beside those of the URL.", Value: codec.CarriedColumns(&o.Carry, types)},
	}}
}

// separator is one ASCII character, or a tab by its name.
func separator(p *byte) config.Value {
	const tab = "tab"
	return config.Single{
		Wanted: `one character such as ";", or tab`,
		Shape:  config.Shape{"anyOf": []config.Shape{{"const": tab}, {"type": "string", "maxLength": 1, "minLength": 1}}},
		Get:    func() any { return *p },
		Current: func() string {
			if *p == '\t' {
				return tab
			}
			return string(rune(*p))
		},
		Set: func(s config.Scalar) (bool, string) {
			if s.Text == tab {
				s.Text = "\t"
			}
			if len(s.Text) != 1 || s.Text[0] >= 0x80 {
				return false, ""
			}
			*p = s.Text[0]
			return true, ""
		},
	}
}

// Factory implements [codec.Options].
func (o *Options) Factory() (codec.Factory, error) { return New(*o) }
