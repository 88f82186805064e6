// Package s3 is a [store.Store] in a bucket of Amazon S3 or of a server that speaks its protocol.
//
// Objects are created by PutObject with If-None-Match, so that of two processes that create the same key one succeeds.
// A data file is a multipart upload: its parts are sent while it is written, and nobody sees it before the upload is
// completed. An upload survives the process that began it, and any process that knows its identifier can complete it;
// that identifier is the token of a pending file. Completing an upload a second time does nothing, whatever the
// server answers: where the upload is gone and the object is there, it was published.
//
// _tmp/<run>/claim marks the runs that write below a prefix. It says whose uploads are those of this place, and is
// nothing like a lock: nothing on S3 can tell whether a process is dead, so that [Store.Sweep] says so of none.
//
// docs/design/commit-chain.md has the reasons, and docs/s3.md what a bucket has to allow.
package s3
