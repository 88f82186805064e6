module github.com/urlmill/urlmill/urlcore/internal/scan/_asm

go 1.26.0

toolchain go1.27.3

require (
	github.com/mmcloughlin/avo v0.5.0
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

require github.com/urlmill/urlmill v0.0.0

replace github.com/urlmill/urlmill => ../../../../
