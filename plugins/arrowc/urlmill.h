/*
 * liburlmill: columns of URLs into columns of their parts, over the Arrow C Data Interface.
 *
 *   struct urlmill_processor *p;
 *   char *error;
 *   if (urlmill_processor_new("{\"include\": [\"host\", \"path\", \"url_error\"]}", &p, &error)) { ... urlmill_free(error); }
 *   struct ArrowArrayStream in = ..., out;
 *   if (urlmill_parse(p, &in, &out)) { ... }
 *   while (!out.get_next(&out, &batch) && batch.release) { ...; batch.release(&batch); }
 *   out.release(&out);
 *   urlmill_processor_free(p);
 *
 * Structs: https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
 *
 * Threads. All functions may be called from any thread at any time, and one processor by many at once. A stream is used by
 * one thread at a time, as the interface says; the library holds a lock for it all the same. Arrays and schemas may be
 * released on any thread, in any order, and after their stream and their processor.
 *
 * Memory. What an array points at does not move or change until its root and all of its nodes have been released, wherever they were
 * moved. Then it serves for batches to come. A processor keeps that of one batch a CPU at most, until it has been freed
 * and the last of its arrays released. Batches of few rows, and those that a host holds beside one a CPU, are copies in memory of
 * malloc. A process may end with anything unreleased.
 *
 * Fork. The library has threads of its own, which do not survive fork(). A child that loads it after the fork uses it like
 * any process. In a child of a process that had loaded it before, all functions and streams fail with ECHILD, and
 * releasing what came from the parent is allowed and frees nothing but C's own memory; a second copy of the file, loaded
 * under another name, works there. With exec after fork there is nothing to mind.
 *
 * Signals. The library is in Go, whose runtime installs handlers with SA_ONSTACK for the signals that nobody handles, and
 * passes on what is not its own. It cannot be unloaded: dlclose does nothing.
 *
 * The ABI follows semantic versioning with URLMILL_ABI: functions are added, and neither changed nor taken away,
 * while it is the same. The columns follow the promises of the Go package pipeline/processor.
 */
#ifndef URLMILL_H
#define URLMILL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* The version of this interface. urlmill_abi() returns that of the library that was loaded. */
#define URLMILL_ABI 1

/* A checked set of options, and the memory that is used again from batch to batch. Opaque. */
struct urlmill_processor;

int32_t urlmill_abi(void);

/* The versions of the library, of this interface, of the Public Suffix List, of Unicode and of Go, as a JSON object. Static. */
const char *urlmill_version(void);

/*
 * Makes a processor of options: a JSON object in UTF-8 with these members, or NULL or "" for none. An unknown member is
 * an error.
 *
 *   url             name of the column with the URLs; default: the only one, else "url"
 *   base            name of the column with a base URL for every row
 *   base_url        base URL of the rows without one
 *   carry           names of the other columns that go along; default: all
 *   include         columns of the URL, in their order; default: all but those that exist only where they are named
 *   exclude         columns to leave out
 *   rename          {"column": "name"}
 *   profile         "default", "commoncrawl", "ecs", "otel", "snowplow"
 *   params          "list" or "map"
 *   promote         [{"param": "utm_source", "or": ["source"], "name": "source", "take": "first" | "last" | "all"}]
 *   canonical       {"form": "dedupe", "with": [...], "without": [...]}
 *   tracking        "keep" or "separate"
 *   tracking_rules  path of a file of tracking rules
 *   psl             path of a Public Suffix List
 *   batch_rows      most rows of a batch of the output; default: as many as that of the input has
 *
 * All but the first four and the last two are the keys of columns: in a configuration of urlmill, with the same meaning.
 *
 * Returns 0, or EINVAL with *error set to what is wrong, which the caller frees with urlmill_free. error may be NULL.
 */
int urlmill_processor_new(const char *options, struct urlmill_processor **out, char **error);

/* Frees a processor. Its streams go on. NULL is allowed, and so is one that has been freed. */
void urlmill_processor_free(struct urlmill_processor *processor);

/*
 * Makes *out the stream of what becomes of the batches of *in.
 *
 * The batches of in are either arrays of URLs (utf8, large_utf8, utf8_view, their binary kin, dictionaries of them, or
 * null), or record batches, that is structs, of which one column has URLs and the others go along untouched, whatever their
 * types. Those of out are structs without nulls, with one row for every row of the input, in order. A batch comes out
 * as one, unless batch_rows says otherwise; one with more than 512 MiB of URLs, or that would have a column of more than 2 GiB, is split.
 *
 * in is moved: the caller's is released (in->release is NULL) when the function returns, whatever it returns. Batches
 * are taken from it as they are asked of out. Large batches are not copied at the border: arrays of out lend memory of the
 * library, and keep the arrays of in that they were made of. Columns that go along are never copied.
 *
 * Returns 0, or an errno value. out is a valid stream in both cases and has to be released; after an error its get_schema
 * and get_next return the same error, and its get_last_error says in words what is wrong. So one may leave the result
 * unlooked at.
 *
 * What is NULL, a processor that has been freed, and a stream that has been released are errors, EINVAL.
 * Errors of in, by number and text, are passed on. An array or a schema that breaks the interface is EINVAL with what is wrong with it,
 * as far as it can be seen: how long buffers are, and where pointers lead, is not in the interface. A text that is no URL is no error: see the column url_error.
 */
int urlmill_parse(struct urlmill_processor *processor, struct ArrowArrayStream *in, struct ArrowArrayStream *out);

/*
 * What urlmill_parse does with a stream of one batch, without the stream: for hosts that have batches one by one, of few rows
 * above all. In: arrays of URLs or record batches, as there.
 *
 * schema is that of in. It is only looked at, and may serve for any number of calls. in is moved: the caller's is released
 * (in->release is NULL) when the function returns, whatever it returns. *out has the schema that urlmill_array_schema tells, and is
 * one batch: batch_rows is not looked at.
 *
 * Returns 0, or an errno value with *out released and *error set to what is wrong, which the caller frees with urlmill_free. error may
 * be NULL. E2BIG says that in has more than 512 MiB or 64 Mi of URLs, or *out would have a column of
 * more than 2 GiB: give slices of it, or a stream.
 */
int urlmill_parse_array(struct urlmill_processor *processor, const struct ArrowSchema *schema, struct ArrowArray *in, struct ArrowArray *out, char **error);

/*
 * Makes *out the schema of what urlmill_parse and urlmill_parse_array make of batches of that schema, which is only looked at. It
 * is the same for every call with the same processor. Returns what urlmill_parse_array does.
 */
int urlmill_array_schema(struct urlmill_processor *processor, const struct ArrowSchema *schema, struct ArrowSchema *out, char **error);

/*
 * The number of processors, open streams and arrays that the library has given out and that have not been released, and of
 * arrays of inputs that it has not released yet. It is 0 for a host that leaks nothing.
 */
int64_t urlmill_alive(void);

/* Frees what a function has put into *error. NULL is allowed. */
void urlmill_free(char *error);

#ifdef __cplusplus
}
#endif

#endif /* URLMILL_H */
