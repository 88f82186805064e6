package parquet

import (
	"bytes"
	"strconv"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// CloudFront is the format of CloudFront's standard logs, version 2.
const CloudFront = "cloudfront"

// newLogFactory returns the codec of files that are logs: its rows become records of a codec for lines, so that the columns are the
// same as those of the log in other forms.
func newLogFactory(o Options) *factory {
	columns, log := accesslog.CloudFrontColumns()
	return &factory{codec.NewShape(log.Fields(), false, false), o, columns, "cs_uri_stem", log}
}

// addLog adds rows to every column of the batch but Records: the record is ours.
func (t *table) addLog(b *pipeline.Batch, rows int) error {
	fault := len(b.Faults)
	for range rows {
		t.record = t.record[:0]
		for i, c := range t.columns {
			var v schema.Value
			if err := c.value(&v); err != nil {
				return err
			}
			if i > 0 {
				t.record = append(t.record, '\t')
			}
			t.record = appendLogged(t.record, &v)
		}
		if len(t.record) > t.maxValue {
			codec.DecodeCut(t.line, b, t.record[:t.maxValue])
		} else {
			t.line.Decode(b, t.record)
		}
		b.Records.Reset()
	}
	for i := range b.Faults[fault:] {
		b.Faults[fault+i].Pos = -1
	}
	return nil
}

// appendLogged appends a value as a log has it in a line, where tabs stand between the values and - is none.
func appendLogged(dst []byte, v *schema.Value) []byte {
	switch v.Kind {
	case schema.Text, schema.Bytes:
		if bytes.IndexByte(v.Data, '\t') >= 0 {
			return append(dst, bytes.ReplaceAll(v.Data, []byte("\t"), []byte("%09"))...)
		}
		return append(dst, v.Data...)
	case schema.Int:
		return strconv.AppendInt(dst, v.Num, 10)
	case schema.Float:
		return strconv.AppendFloat(dst, v.Float, 'f', -1, 64)
	default:
		return append(dst, '-')
	}
}
