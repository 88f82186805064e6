package main

import (
	"slices"
	"strings"
)

// module is the path that rooms are below.
const module = "github.com/urlmill/urlmill/urlcore"

// row is a row of the feature matrix: something that has to work, and the tests that prove that it does.
type row struct {
	id, title string
	// rooms are the packages, below urlcore and "." for urlcore itself, whose TestFeatures has a subtest of the row's id.
	rooms string
	// also names further tests of it as room.Test, such as percent.TestSets or .TestSetters.
	also string
}

// proof is a test that proves a row.
type proof struct {
	room string // "." is urlcore itself
	test string // with its subtest, as in TestFeatures/A1
}

// pkg returns the import path of the test's package.
func (p proof) pkg() string {
	if p.room == "." {
		return module
	}
	return module + "/" + p.room
}

// String returns the proof as the document writes it.
func (p proof) String() string {
	if p.room == "." {
		return p.test
	}
	return p.room + "." + p.test
}

// proofs returns the tests that prove r, those that have its id first.
func (r row) proofs() []proof {
	var all []proof
	for room := range strings.FieldsSeq(r.rooms) {
		all = append(all, proof{room, "TestFeatures/" + r.id})
	}
	for name := range strings.FieldsSeq(r.also) {
		room, test, _ := strings.Cut(name, ".")
		if room == "" {
			room = "."
		}
		all = append(all, proof{room, test})
	}
	return all
}

// part is a group of rows.
type part struct {
	letter, title string
	rows          []row
}

// parts are all rows of the matrix.
var parts = []part{
	{"A", "Percent-encoding", percentRows},
	{"B", "Encodings", encodingRows},
	{"C", "Hosts", hostRows},
	{"D", "URL records and helpers", recordRows},
	{"E", "The basic URL parser, state by state", stateRows},
	{"F", "Validation errors", validationRows},
	{"G", "Writing, serializing, equality, origin, rendering", serializerRows},
	{"H", "application/x-www-form-urlencoded", formRows},
	{"I", "The API", apiRows},
	{"J", "ECMA-262 URI functions", ecmaRows},
	{"K", "Variants of percent-encoding", variantRows},
	{"L", "RFC 3986", rfcRows},
	{"S", "What has changed since the text that the project was started from", changeRows},
	{"W", "What golang.org/x/net/idna does differently", wrapRows},
	{"P", "Points that are easy to get wrong", pointRows},
	{"Q", "Properties that no row asks for", propertyRows},
}

// rooms returns the packages that have a proof, in order.
func rooms() []string {
	var all []string
	for _, p := range parts {
		for _, r := range p.rows {
			for _, proof := range r.proofs() {
				all = append(all, proof.room)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// count returns the number of rows, and how many of them are features, that is, of parts A to L.
func count() (features, all int) {
	for _, p := range parts {
		all += len(p.rows)
		if p.letter <= "L" {
			features += len(p.rows)
		}
	}
	return features, all
}
