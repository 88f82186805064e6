// Package urlcore is the WHATWG URL Standard (https://url.spec.whatwg.org/), one URL at a time: the basic
// URL parser with every state, hosts, serializing, origins, and the API of the URL class.
package urlcore
