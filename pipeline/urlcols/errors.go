package urlcols

import (
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore"
)

// rowError is the error of a row: its code and its position, -1 for none. The code is that of package
// urlcore, or one of
//
//	firstBase  + the urlcore.Code of a base URL
//	firstFault + the pipeline.FaultCode of a record
type rowError struct {
	code uint16
	pos  int64
}

const (
	firstBase  = 64
	firstFault = 128
	numErrors  = 144
)

// errorNames holds the text of the column url_error for every code.
var errorNames = func() (names [numErrors]string) {
	for _, c := range urlcore.Codes() {
		names[c] = c.String()
		names[firstBase+int(c)] = "base-" + c.String()
	}
	for c := pipeline.FaultMalformed; c <= pipeline.FaultSchema; c++ {
		names[firstFault+int(c)] = c.String()
	}
	return names
}()

// ErrorNames returns all values of the column url_error: the standard's names of the validation errors that
// are failures or may be, the same with "base-" for the base URL, and the faults of records. The caller owns
// the slice.
func ErrorNames() []string {
	var names []string
	for _, name := range errorNames {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// collectErrors joins the errors of the parser and of the codec; the codec's go first, since they are the
// cause where there are both.
func (s *state) collectErrors() {
	s.errs = s.errs[:0]
	for i, e := range s.cols.Errors {
		code, pos := uint16(e.Code), int64(e.Pos)
		if e.InBase {
			code += firstBase
		} else if len(s.added) > 0 && pos >= 0 {
			pos = max(pos-int64(s.added[i]), 0)
		}
		s.errs = append(s.errs, rowError{code, pos})
	}
	for _, f := range s.batch.Faults {
		s.errs[f.Row] = rowError{firstFault + uint16(f.Code), f.Pos}
	}
}
