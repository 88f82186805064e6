// Package azuretest runs servers of Azure Blob Storage for tests: Azurite, as a process of its own that can be killed, and one in memory
// without a network.
//
// Azurite is installed by npm on first use, by the lock file here, and kept in the user's cache directory. Where it cannot be had, tests
// that need it are skipped, and fail if [EnvRequire] says so.
package azuretest
