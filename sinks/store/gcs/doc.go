// Package gcs opens places in buckets of Google Cloud Storage as [bucket.Store], by its JSON API.
//
// Objects are created with ifGenerationMatch=0, so that of two processes that create the same key one succeeds. What is known there as
// an upload cannot be listed, and its identifier would be a secret in a record. So the parts of a data file are objects below _tmp, and
// the file appears when they are composed: that is one request, and creates it or does nothing.
//
// docs/design/commit-chain.md has the reasons, and docs/gcs.md what a bucket has to allow.
package gcs
