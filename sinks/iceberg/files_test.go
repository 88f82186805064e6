package iceberg

import "testing"

func TestKeyOf(t *testing.T) {
	for _, c := range []struct{ base, location, want string }{
		{"file:///a/out", "file:///a/out/_iceberg/m.avro", "_iceberg/m.avro"},
		{"file:///a/out", "file:/a/out/_iceberg/m.avro", "_iceberg/m.avro"},
		{"file:///a/out", "file://localhost/a/out/m.avro", "m.avro"},
		{"file:///a/out", "/a/out/m.avro", "m.avro"},
		{"file:///a/out", "file:/a//out/./dt=1/m.avro", "dt=1/m.avro"},
		{"file:///a/out/", "file:/a/out/m.avro", "m.avro"},
		{"file:///a b/out", "file:/a%20b/out/m.avro", "m.avro"},
		{"file:///a b/out", "file:/a b/out/h=a%2Fb/m.avro", "h=a%2Fb/m.avro"},
		{"file:///a/out", "file:/a/out/h=a%2Fb/m.avro", "h=a%2Fb/m.avro"},
		{"s3://lake/out", "s3a://lake/out/m.avro", "m.avro"},
		{"s3://lake/out", "s3n://lake/out/m.avro", "m.avro"},
		{"s3://lake/out", "s3://lake/out/a//m.avro", "a//m.avro"},
		{"s3://lake/a:b", "s3a://lake/a:b/m.avro", "m.avro"},
		{"file:///a/out", "file:///a/output/m.avro", ""},
		{"file:///a/out", "file:/a/out/../other/m.avro", ""},
		{"file:///a/out", "file:/a/out", ""},
		{"file:///a/out", "s3://a/out/m.avro", ""},
		{"s3://lake/out", "s3://other/out/m.avro", ""},
		{"s3://lake/out", "gs://lake/out/m.avro", ""},
		{"s3://lake/out", "/lake/out/m.avro", ""},
	} {
		got, err := keyOf(c.base, c.location)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s in %s: %q, %v, want %q", c.location, c.base, got, err, c.want)
		}
	}
	for _, same := range []string{"file:/a b", "file:///a b/", "/a b", "file:/a%20b"} {
		if !samePlace(same, "file:///a b") {
			t.Errorf("%s is another place", same)
		}
	}
	if samePlace("file:///a", "file:///b") || samePlace("s3://a", "file:///a") {
		t.Error("different places are the same")
	}
}
