package scan

import "testing"

func TestNibbles(t *testing.T) {
	for name, in := range map[string]func(c byte) bool{
		"clean": func(c byte) bool { return ClassOf(c)&Stop == 0 },
		"dirty": func(c byte) bool { return ClassOf(c)&Dirty != 0 },
		"none":  func(byte) bool { return false },
		"all":   func(byte) bool { return true },
	} {
		low, high := Nibbles(in)
		for i := range 256 {
			if c := byte(i); low[c&15]&high[c>>4] != 0 != in(c) {
				t.Errorf("%s: %q is wrong", name, c)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("nine kinds of rows were taken")
		}
	}()
	Nibbles(func(c byte) bool { return c>>4 < 9 && c>>4 == c&15 })
}
