// Command urls prints a list of URLs of package corpus, one a line.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/urlmill/urlmill/benchmarks/corpus"
)

func main() {
	kind := flag.String("kind", string(corpus.Web), fmt.Sprintf("kind of list: one of %s", corpus.Kinds()))
	n := flag.Int("n", 1_000_000, "how many URLs")
	seed := flag.Uint64("seed", 1, "seed")
	flag.Parse()
	if !slices.Contains(corpus.Kinds(), corpus.Kind(*kind)) {
		fmt.Fprintf(os.Stderr, "there is no kind %q; there are %s\n", *kind, corpus.Kinds())
		os.Exit(2)
	}
	out := bufio.NewWriter(os.Stdout)
	for _, url := range corpus.Generate(corpus.Kind(*kind), *n, *seed) {
		fmt.Fprintln(out, url)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
