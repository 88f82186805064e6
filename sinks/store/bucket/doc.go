// Package bucket is a [store.Store] in a bucket, over what a vendor's protocol can do there, a [Client].
//
// Objects are created exclusively, so that of two processes that create the same key one succeeds. A data file is an upload: its
// parts are sent while it is written, and nobody sees it before the upload is completed. An upload survives the process that began
// it, and any process that knows its identifier can complete it; that identifier is the token of a pending file. Completing an
// upload a second time does nothing, whatever the server answers: where the upload is gone and the object is there, it was
// published.
//
// _tmp/<run>/claim marks the runs that write below a prefix. It says whose uploads are those of this place, and is
// nothing like a lock: nothing in a bucket can tell whether a process is dead, so that [Store.Sweep] says so of none.
//
// docs/design/commit-chain.md has the reasons.
package bucket
