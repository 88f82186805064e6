// Package browsertest looks at the status page and the URL inspector as people do: with a browser. It is a module of its
// own, since what drives the browser is larger than urlmill. It needs Chromium (Debian: apt-get install chromium); where
// that is in another place, URLMILL_CHROMIUM names it.
//
//	go test ./...                               skips what needs a browser where there is none
//	URLMILL_REQUIRE_CHROMIUM=1 go test ./...    fails then
//	UPDATE_IMAGES=1 go test -run Pictures ./... writes the pictures of docs/images anew, to be looked at
package browsertest
