// Command urlcopy reports copies of URLs that the parser writes into again, which change with them:
//
//	go run github.com/urlmill/urlmill/urlcore/urlcopy@latest ./...
//	go vet -vettool=$(which urlcopy) ./...
//
// It exits with a status other than 0 when there are any. Copies of other URLs are safe; see urlcore.URL.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/urlmill/urlmill/internal/urlcopy"
)

func main() { multichecker.Main(urlcopy.Analyzer) }
