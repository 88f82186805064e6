// Package packages checks what .goreleaser.yaml says with GoReleaser's own reader of it, and builds the packages that it
// describes (deb, rpm, apk) with the library that GoReleaser builds them with. It is a module of its own for their sake.
//
//	PACKAGES=FOLDER go test ./...   leaves them there, as "make packages" does
package packages
