// Package gcstest runs servers of Google Cloud Storage for tests: fake-gcs-server, as a process of its own that can be killed, and one in
// memory without a network.
//
// Fake-gcs-server is built from source on first use, by the Go command and through the module proxy, and kept in the user's cache
// directory. Where it cannot be had, tests that need it are skipped, and fail if [EnvRequire] says so.
package gcstest
