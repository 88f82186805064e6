package psl

import "bytes"

// IsDomain tells domains, which the list can be asked about, from IP addresses and the empty host among the hosts of
// serialized URLs. It goes by the last label: of the other hosts of special URLs none is a number.
//
// Source: https://url.spec.whatwg.org/#ends-in-a-number-checker
func IsDomain(host []byte) bool {
	if len(host) == 0 || host[0] == '[' {
		return false
	}
	last := host[bytes.LastIndexByte(host, '.')+1:]
	return len(last) == 0 || len(bytes.Trim(last, "0123456789")) > 0
}
