package urlcore

// BlobEntry is the entry of a blob: URL in the environment's store, as far as URLs are concerned: the
// origin of the environment that made it.
//
// https://url.spec.whatwg.org/#concept-url-blob-entry
type BlobEntry struct {
	Origin Origin
}
