package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/urlmill/urlmill/internal/dev/conformance/differ"
)

const (
	beginMark = "<!-- Written by go run ./internal/dev/conformance/matrix -write. Do not edit below. -->"
	endMark   = "<!-- End of what is written. -->"
)

// document returns the part of docs/conformance.md that is written. The first of the runs proves the rows.
func document(runs []*results, peers *peerFigures) string {
	var b strings.Builder
	r := runs[0]
	b.WriteString(beginMark + "\n\n## Results\n\n")
	features, all := count()
	fmt.Fprintf(&b, "The matrix has %d features, and with the changes, traps and properties %d rows. ✔ means that every test named has run and\n", features, all)
	b.WriteString("passed; – that one was skipped, since data or Node.js were missing; ✘ that one failed. A test without a package is one\nof urlcore.\n")
	b.WriteString("\n### Files of cases\n\n")
	files(&b, runs, peers)
	b.WriteString("\n### Comparison with Node.js\n\n")
	for _, note := range r.notes {
		b.WriteString("- " + note + "\n")
	}
	b.WriteString("\nWhat may explain a difference; each is predicted exactly, or gone when its subject is taken out of the question:\n\n")
	for _, rule := range differ.Rules {
		fmt.Fprintf(&b, "- %s: %s\n", escape(rule.Name), escape(rule.Source))
	}
	for _, p := range parts {
		fmt.Fprintf(&b, "\n### %s. %s\n\n| | row | | proved by |\n| --- | --- | --- | --- |\n", p.letter, p.title)
		for _, x := range p.rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.id, escape(x.title), r.mark(x), proved(x))
		}
	}
	b.WriteString("\n" + endMark + "\n")
	return b.String()
}

// proved lists the tests of a row.
func proved(x row) string {
	var names []string
	for _, p := range x.proofs() {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(s)
}

// files writes the table of files, with a column for each run, and with peers' figures where they were measured.
func files(b *strings.Builder, runs []*results, peers *peerFigures) {
	names := peers.names()
	b.WriteString("| file | package |")
	for _, r := range runs {
		b.WriteString(" passed, " + r.goVersion + " |")
	}
	for _, name := range names {
		b.WriteString(" " + name + " |")
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" ---: |", len(runs)+len(names)) + "\n")
	for _, t := range runs[0].files() {
		room := t.room
		if room == "" {
			room = "urlcore"
		}
		fmt.Fprintf(b, "| %s | %s |", escape(t.what), room)
		for _, r := range runs {
			b.WriteString(" " + r.cell(t) + " |")
		}
		for _, name := range names {
			b.WriteString(" " + peers.cell(name, t) + " |")
		}
		b.WriteString("\n")
	}
}

// table prints the files for people.
func table(runs []*results, peers *peerFigures) string {
	var b strings.Builder
	names := peers.names()
	fmt.Fprintf(&b, "%-62s", "file")
	for _, r := range runs {
		fmt.Fprintf(&b, " %17s", "urlmill, "+r.goVersion)
	}
	for _, name := range names {
		fmt.Fprintf(&b, " %*s", width(name), name)
	}
	b.WriteString("\n")
	for _, t := range runs[0].files() {
		what := t.what
		if t.room != "" {
			what += " (" + t.room + ")"
		}
		fmt.Fprintf(&b, "%-62s", what)
		for _, r := range runs {
			fmt.Fprintf(&b, " %17s", r.cell(t))
		}
		for _, name := range names {
			fmt.Fprintf(&b, " %*s", width(name), peers.cell(name, t))
		}
		b.WriteString("\n")
	}
	for _, note := range runs[0].notes {
		b.WriteString(note + "\n")
	}
	return b.String()
}

// width returns that of a peer's column.
func width(name string) int { return max(len(name), 11) }

var variable = regexp.MustCompile(`✔|–|✘`)

// structure returns the rows of a document without their outcomes, and nothing else of it.
func structure(document string) string {
	var rows []string
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "### ") || len(strings.Split(line, " | ")) == 4 && variable.MatchString(line) {
			rows = append(rows, variable.ReplaceAllString(line, "?"))
		}
	}
	return strings.Join(rows, "")
}
