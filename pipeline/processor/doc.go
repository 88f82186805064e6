// Package processor is urlmill's batch engine for other programs: an Arrow record with a column of URLs goes in, and an
// Arrow record with the columns of their parts comes out.
//
//	p, err := processor.New(processor.Options{URL: "page", Include: []string{"host", "path", "url_error"}})
//	...
//	out, err := p.Process(record)
//	...
//	defer out.Release()
//
// It makes the same columns in the same way as the command urlmill, which is built on the same plan of columns: what one
// can do the other can. The columns are those of https://github.com/urlmill/urlmill/blob/main/docs/design/columns.md. The
// C library and the Python package under plugins/ are this package with a border around it.
//
// # Rows
//
// Every row of the input is one row of the output, in its place. A text that is no URL is null in all columns of parts and
// has its error in url_error and url_error_pos; it never is an error of Process. A null is that with the error
// record-field-missing, as for a JSON record without the field.
//
// # Arrays from elsewhere
//
// Arrow does not look at offsets, views and indices when it makes an array of buffers that another program has sent. This package
// does, before it reads text by them: an array that leads out of its buffers is an error of kind [ErrMalformed], and so is one whose
// bitmap or offsets are too short. Buffers that are shorter than they say cannot be told.
//
// # Ownership
//
// The records that Process and Parse return belong to the caller, who releases them as any other; columns may be
// retained, sliced and handed on one by one. Their memory is the Processor's and goes back to it when the last reference
// is released, to be used for a record to come. That is so for as many records at a time as there are CPUs; those that are
// held beside them are copies, which take the memory of their values and are left to the garbage collector, as are
// records that are never released: release them, and none is copied. A record keeps references to the input's columns of URLs and bases and to the columns that were carried along, and shares
// their memory: the input may be released at once, but not be changed.
//
// # Concurrency
//
// A Processor is immutable but for its memory, and safe for concurrent use. Goroutines do not wait for each other:
// each call takes a workspace of its own. As many workspaces as there are CPUs are kept for later calls, but for those that have
// become far larger than calls need.
//
// # Allocation
//
// Nothing is allocated for a row, and nothing for a byte of a URL, once workspaces have grown to the size of
// the batches and records are released; hosts that need IDNA and were not seen lately are the exception. What
// describes a record is made anew for each, in some ten allocations for three columns and thirty for all, however many
// rows it has. [Processor.View] shows the columns without a record, and allocates nothing at all. A call costs as much as to parse
// 70 to 100 URLs, one of View as much as 20 to 27: records of 1,000 rows cost a few percent more than larger ones.
//
// # Stability
//
// The package follows semantic versioning with its module. Within a major version: nothing exported goes away or changes
// its meaning; a column keeps its name, type and meaning; a minor version may add options, columns that are there only
// where they are asked for, and values of url_error. What a URL parses to follows the URL Standard, which
// changes, as does the Public Suffix List: a minor version may bring a newer one, and its changelog says so. Before
// v1.0.0 a minor version may break this, and its changelog says how. Arrow's Go module, whose types are in the API,
// is github.com/apache/arrow/go/v15; another major version of it is a major version of this module.
package processor
