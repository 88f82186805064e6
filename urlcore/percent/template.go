package percent

// EncodeTemplateSimple encodes a value for the expressions of URI Template that keep nothing but unreserved
// characters, such as {var}. A triplet in the value is data and is encoded too. Ill-formed parts of s count as U+FFFD.
//
// https://www.rfc-editor.org/rfc/rfc6570#section-3.2.1
func EncodeTemplateSimple(s string) string { return Encode(scalars(s), &Unreserved) }

// EncodeTemplateReserved encodes a value for the expressions {+var} and {#var} of URI Template, and the literals of a
// template: reserved characters stay, and so do triplets, while other percent signs become %25. Ill-formed parts
// of s count as U+FFFD.
//
// https://www.rfc-editor.org/rfc/rfc6570#section-3.2.1
func EncodeTemplateReserved(s string) string { return FixUp(s, &NotInURI) }
