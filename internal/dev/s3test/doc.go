// Package s3test runs S3 servers for tests: versitygw, a gateway in front of a directory, as a process of its own that
// can be killed and started again, and gofakes3 within the test itself.
//
// Versitygw is built from source on first use, by the Go command and through the module proxy, and kept in the user's
// cache directory. Where it cannot be had, tests that need it are skipped, and fail if [EnvRequire] says so.
package s3test
