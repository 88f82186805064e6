module github.com/urlmill/urlmill/internal/dev/conformance/peers

go 1.26.0

toolchain go1.27.3

require (
	github.com/nlnwa/whatwg-url v0.6.2
	golang.org/x/net v0.62.0
	golang.org/x/text v0.43.0
)

require github.com/bits-and-blooms/bitset v1.20.0 // indirect
