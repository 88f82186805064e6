package psl

import "testing"

func TestIsDomain(t *testing.T) {
	for host, want := range map[string]bool{
		"": false, "[::1]": false, "1.2.3.4": false, "127": false,
		"example.com": true, "example.com.": true, "a.1b": true, "1.2.3.4a": true, "4.example": true, "localhost": true, ".": true,
	} {
		if got := IsDomain([]byte(host)); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
