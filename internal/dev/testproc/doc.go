// Package testproc runs programs for tests: urlmill itself, and servers that it works with.
package testproc
