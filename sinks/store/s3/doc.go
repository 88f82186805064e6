// Package s3 opens places in buckets of Amazon S3, or of a server that speaks its protocol, as [bucket.Store].
//
// Objects are created by PutObject with If-None-Match. A data file is a multipart upload whose key is the file's own.
//
// docs/design/commit-chain.md has the reasons, and docs/s3.md what a bucket has to allow.
package s3
