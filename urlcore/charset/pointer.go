package charset

// The two bytes that the standard's encoders write for a pointer; the decoders compute the pointer back.

func big5Bytes(pointer int) (lead, trail byte) {
	trail = byte(pointer % big5Row)
	offset := byte(0x62)
	if trail < 0x3F {
		offset = 0x40
	}
	return byte(pointer/big5Row + 0x81), trail + offset
}

func shiftJISBytes(pointer int) (lead, trail byte) {
	lead, trail = byte(pointer/sjisRow), byte(pointer%sjisRow)
	leadOffset, offset := byte(0xC1), byte(0x41)
	if lead < 0x1F {
		leadOffset = 0x81
	}
	if trail < 0x3F {
		offset = 0x40
	}
	return lead + leadOffset, trail + offset
}

func eucKRBytes(pointer int) (lead, trail byte) {
	return byte(pointer/eucKRRow + 0x81), byte(pointer%eucKRRow + 0x41)
}

func gb18030Bytes(pointer int) (lead, trail byte) {
	trail = byte(pointer % gb18030Row)
	offset := byte(0x41)
	if trail < 0x3F {
		offset = 0x40
	}
	return byte(pointer/gb18030Row + 0x81), trail + offset
}
