package percent

import (
	"bytes"
	"fmt"
	"testing"
)

func ExampleEncode() {
	fmt.Println(Encode("100 % caf\u00e9?", &Path))
	fmt.Println(Encode("100 % caf\u00e9?", &Component))
	// Output:
	// 100%20%%20caf%C3%A9%3F
	// 100%20%25%20caf%C3%A9%3F
}

func ExampleAppendEncode() {
	url := []byte("https://example.org/?q=")
	url = AppendEncode(url, []byte("a b&c"), &Component)
	fmt.Println(string(url))
	// Output: https://example.org/?q=a%20b%26c
}

func ExampleDecode() {
	fmt.Printf("%q\n", Decode("caf%c3%A9 %zz %2541 %"))
	// Output: "café %zz %41 %"
}

func ExampleAppendDecode() {
	b := []byte("a%20b")
	b = AppendDecode(b[:0], b) // in place
	fmt.Printf("%s\n", b)
	// Output: a b
}

func TestEncodeByte(t *testing.T) {
	for b, want := range map[byte]string{0: "%00", 0x23: "%23", 0x7F: "%7F", 0xFF: "%FF"} {
		if got := AppendByte(nil, b); string(got) != want {
			t.Errorf("%#x: %s", b, got)
		}
	}
}

func TestEncodeReturnsItsInput(t *testing.T) {
	const s = "nothing-to-encode"
	if got := Encode(s, &Component); got != s || testing.AllocsPerRun(10, func() { _ = Encode(s, &Component) }) != 0 {
		t.Errorf("%q", got)
	}
}

func TestDecodeMalformed(t *testing.T) {
	for input, want := range map[string]string{
		"": "", "%": "%", "%4": "%4", "%4g": "%4g", "%g4": "%g4", "%%41": "%A", "%41%": "A%", "%25%s%1G": "%%s%1G", "%7e%7E": "~~",
		"%u0041": "%u0041", "%%%": "%%%", "%%%%41": "%%%A",
	} {
		if got := Decode(input); string(got) != want {
			t.Errorf("%q: %q and not %q", input, got, want)
		}
	}
}

func TestUnhex(t *testing.T) {
	for i := range 256 {
		v, ok := Unhex(byte(i))
		var want byte
		n, _ := fmt.Sscanf(string(rune(i)), "%1x", &want)
		if isHex := i < 0x80 && n == 1; ok != isHex || ok && v != want {
			t.Errorf("%q: %d, %t", byte(i), v, ok)
		}
	}
}

func TestCodingAllocatesNothing(t *testing.T) {
	plain, encoded := []byte("a b\u00e9/%41"), []byte("a%20b%C3%A9/%41")
	dst := make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		dst = AppendEncode(dst[:0], plain, &Path)
		dst = AppendDecode(dst[:0], encoded)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecodeEncode(f *testing.F) {
	f.Add([]byte("a b%41%\xff?"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, set := range []*Set{&Component, &FormURLEncoded} { // the two that encode percent signs
			encoded := AppendEncode(nil, data, set)
			for _, b := range encoded {
				if b != '%' && set.Has(b) {
					t.Fatalf("%q holds %q", encoded, b)
				}
			}
			if got := AppendDecode(nil, encoded); !bytes.Equal(got, data) {
				t.Fatalf("%q becomes %q and then %q", data, encoded, got)
			}
		}
		// Encoding with another set changes nothing that decoding would see, but for what looks like a triplet.
		once := AppendEncode(nil, data, &Userinfo)
		if again := AppendEncode(nil, once, &Userinfo); !bytes.Equal(again, once) {
			t.Fatalf("%q is encoded again to %q", once, again)
		}
		want := AppendDecode(nil, data)
		inPlace := bytes.Clone(data)
		if got := AppendDecode(inPlace[:0], inPlace); !bytes.Equal(got, want) {
			t.Fatalf("%q in place: %q and not %q", data, got, want)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	src := []byte("a path segment with some spaces and caf\u00e9s in it")
	dst := make([]byte, 0, 200)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		dst = AppendEncode(dst[:0], src, &Path)
	}
}

func BenchmarkDecode(b *testing.B) {
	src := []byte("a%20path%20segment%20with%20some%20spaces%20and%20caf%C3%A9s")
	dst := make([]byte, 0, 200)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		dst = AppendDecode(dst[:0], src)
	}
}
