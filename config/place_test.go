package config

import "testing"

func TestMisplaced(t *testing.T) {
	for place, want := range map[string][2]bool{ // local, with S3
		"out": {}, "./s3:/x": {}, "/a/b:/c": {}, `C:\x`: {}, "C:/x": {}, "-": {}, "": {}, "a:b": {},
		"s3://lake/x": {true, false}, "gs://lake/x": {true, false},
		"s3:/lake/x": {true, true}, "S3://lake/x": {true, true}, "s3a://lake/x": {true, true}, "gcs://lake/x": {true, true}, "gs:/lake/x": {true, true}, "azure://x": {true, true},
		"https://e.com/x": {true, true}, "file:///x": {true, true}, "hdfs://n/x": {true, true}, "abfss://c@a/x": {true, true},
	} {
		for i, s3 := range []bool{false, true} {
			reason, advice := Misplaced(place, s3)
			if (reason != "") != want[i] || (advice != "") != want[i] {
				t.Errorf("%q, %v: %q, %q", place, s3, reason, advice)
			}
		}
	}
}
