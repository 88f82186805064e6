// Package deploy checks docker-compose.yml and the Dockerfile without an engine: that they load, and that what they
// say fits the binary and the repository.
package deploy
