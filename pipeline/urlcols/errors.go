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
//	numErrors  + the index of a carried field
type rowError struct {
	code uint32
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
	for c := pipeline.FaultMalformed; c < pipeline.FaultCarried; c++ {
		names[firstFault+int(c)] = c.String()
	}
	return names
}()

// fieldNames returns the codes of carried fields that are not of their type, by index.
func fieldNames(fields []pipeline.Field) (names []string) {
	for _, f := range fields {
		names = append(names, pipeline.FaultCarried.String()+":"+f.Name)
	}
	return names
}

// ErrorNames returns all values of the column url_error: the standard's names of the validation errors that
// are failures or may be, the same with "base-" for the base URL, the faults of records, and what stands before the colon and the
// name of a carried field. The caller owns the slice.
func ErrorNames() []string {
	var names []string
	for _, name := range errorNames {
		if name != "" {
			names = append(names, name)
		}
	}
	return append(names, pipeline.FaultCarried.String())
}

// collectErrors joins the errors of the parser and of the codec; the codec's go first, since they are the
// cause where there are both, but those of carried fields last.
func (s *state) collectErrors() {
	s.errs = s.errs[:0]
	for i, e := range s.cols.Errors {
		code, pos := uint32(e.Code), int64(e.Pos)
		if e.InBase {
			code += firstBase
		} else if len(s.added) > 0 && pos >= 0 {
			pos = max(pos-int64(s.added[i]), 0)
		}
		s.errs = append(s.errs, rowError{code, pos})
	}
	for _, f := range s.batch.Faults {
		switch {
		case f.Code != pipeline.FaultCarried:
			s.errs[f.Row] = rowError{firstFault + uint32(f.Code), f.Pos}
		case s.plan.opts.OnFieldError != pipeline.KeepField && s.errs[f.Row].code == 0:
			s.errs[f.Row] = rowError{numErrors + uint32(f.Field), f.Pos}
		}
	}
}

// isField reports whether the error is that of a carried field.
func (e rowError) isField() bool { return e.code >= numErrors }

// goes says what becomes of a row with the error.
func (p *Plan) goes(e rowError) pipeline.OnError {
	switch {
	case e.code == 0:
		return pipeline.Keep
	case e.isField() && p.opts.OnFieldError == pipeline.FieldToDeadLetters:
		return pipeline.ToDeadLetters
	}
	return p.opts.OnError
}
