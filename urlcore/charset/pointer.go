package charset

// The two bytes that the standard's encoders write for a pointer; the decoders compute the pointer back.

// twoBytes returns the bytes for a pointer into rows of that length. The trail bytes leave 0x7F out, and go on at high.
func twoBytes(pointer, row int, high byte) (lead, trail byte) {
	trail = byte(pointer % row)
	if trail < 0x3F {
		high = 0x40
	}
	return byte(pointer/row + 0x81), trail + high
}

func big5Bytes(pointer int) (lead, trail byte) { return twoBytes(pointer, big5Row, 0x62) }

func shiftJISBytes(pointer int) (lead, trail byte) {
	lead, trail = twoBytes(pointer, sjisRow, 0x41)
	if lead >= 0xA0 { // between are the bytes of half-width katakana
		lead += 0xC1 - 0x81
	}
	return lead, trail
}

func eucKRBytes(pointer int) (lead, trail byte) {
	return byte(pointer/eucKRRow + 0x81), byte(pointer%eucKRRow + 0x41)
}

func gb18030Bytes(pointer int) (lead, trail byte) { return twoBytes(pointer, gb18030Row, 0x41) }
