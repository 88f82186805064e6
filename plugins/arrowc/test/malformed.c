/* Arrays and schemas that break the interface, each given alone and in a stream: the error says what is wrong with them, they are
 * released, nothing is left over, and the process goes on. A case that is fine is among every kind.
 *
 *   malformed */
#include <errno.h>
#include <limits.h>

#pragma GCC diagnostic ignored "-Wunused-function" /* of what feeds the other programs */
#include "input.h"

static char data[] = "https://a.com/xhttps://b.co.uk/y?q=1https://c.de/z"; /* 14, 22 and 14 bytes */
static long released;

static void free_array(struct ArrowArray *a) {
	released++;
	a->release = NULL;
}

static void free_schema(struct ArrowSchema *s) { s->release = NULL; }
static void free_child(struct ArrowArray *a) { a->release = NULL; }

/* A batch of every kind, with the memory of its parts. */
static struct batch {
	struct ArrowSchema schema, fields[2], *field_pointers[2], values_schema;
	struct ArrowArray array, columns[2], *column_pointers[2], values;
	const void *buffers[4], *text[3], *struct_buffers[1];
	int32_t offsets[4], indices[4];
	int64_t large[4], sizes[1];
	uint64_t wide[4];
	struct view {
		int32_t length;
		char prefix[4];
		int32_t buffer, offset;
	} views[2];
	char metadata[16];
} b;

static void text(struct ArrowSchema *s, struct ArrowArray *a, const char *format) {
	*s = (struct ArrowSchema){.format = format, .name = "", .flags = 2, .release = free_schema};
	*a = (struct ArrowArray){.length = 3, .n_buffers = 3, .buffers = b.text, .release = free_child};
}

static void start(void) {
	static const int32_t offsets[4] = {0, 14, 36, 50}, indices[4] = {0, 2, 1, 1};
	memset(&b, 0, sizeof b);
	for (int i = 0; i < 4; i++) {
		b.offsets[i] = offsets[i];
		b.large[i] = offsets[i];
		b.indices[i] = indices[i];
		b.wide[i] = (uint64_t)indices[i];
	}
	b.text[1] = b.offsets;
	b.text[2] = data;
}

static void utf8(void) { text(&b.schema, &b.array, "u"); }

static void large(void) {
	text(&b.schema, &b.array, "U");
	b.text[1] = b.large;
}

static void dictionary(void) {
	text(&b.values_schema, &b.values, "u");
	b.buffers[1] = b.indices;
	b.schema = (struct ArrowSchema){.format = "i", .name = "", .release = free_schema, .dictionary = &b.values_schema};
	b.array = (struct ArrowArray){.length = 4, .n_buffers = 2, .buffers = b.buffers, .release = free_child, .dictionary = &b.values};
}

static void wide(void) {
	dictionary();
	b.schema.format = "L";
	b.buffers[1] = b.wide;
}

static void view(void) {
	b.views[0] = (struct view){.length = 36, .offset = 14};
	b.views[1] = (struct view){.length = 3, .prefix = "a:b"};
	b.sizes[0] = 50;
	b.buffers[1] = b.views;
	b.buffers[2] = data;
	b.buffers[3] = b.sizes;
	b.schema = (struct ArrowSchema){.format = "vu", .name = "", .release = free_schema};
	b.array = (struct ArrowArray){.length = 2, .n_buffers = 4, .buffers = b.buffers, .release = free_child};
}

static void records(void) {
	for (int i = 0; i < 2; i++) {
		text(&b.fields[i], &b.columns[i], "u");
		b.field_pointers[i] = &b.fields[i];
		b.column_pointers[i] = &b.columns[i];
	}
	b.fields[0].name = "url";
	b.fields[1].name = "x";
	b.schema = (struct ArrowSchema){.format = "+s", .name = "", .release = free_schema, .n_children = 2, .children = b.field_pointers};
	b.array = (struct ArrowArray){
		.length = 3, .n_buffers = 1, .buffers = b.struct_buffers, .n_children = 2, .children = b.column_pointers, .release = free_child};
}

static void nulls(void) {
	b.schema = (struct ArrowSchema){.format = "n", .name = "", .release = free_schema};
	b.array = (struct ArrowArray){.length = 5, .null_count = -1, .release = free_child};
}

/* Each case is a batch, a change of it, and what the error says; NULL for none. */
#define CASES(X)                                                                                         \
	X(utf8, , NULL)                                                                                      \
	X(utf8, b.array.offset = 1; b.array.length = 2, NULL)                                                \
	X(utf8, b.array.length = -1, "the array has -1 rows")                                                \
	X(utf8, b.array.length = INT64_MIN, "the array has -9223372036854775808 rows")                       \
	X(utf8, b.array.length = INT64_MAX, "the array has 9223372036854775807 rows")                        \
	X(utf8, b.array.offset = -1, "the array begins at row -1")                                           \
	X(utf8, b.array.offset = 1LL << 62, "the array begins at row 4611686018427387904")                   \
	X(utf8, b.array.null_count = 1000, "the array has 3 rows, of which 1000 are null")                   \
	X(utf8, b.array.null_count = -7, "the array has 3 rows, of which -7 are null")                       \
	X(utf8, b.array.buffers = NULL, "the array has 3 buffers, and no pointers to them")                  \
	X(utf8, b.text[1] = NULL, "the URLs: buffer 1 is missing")                                           \
	X(utf8, b.text[2] = NULL, "the URLs: buffer 2 is missing")                                           \
	X(utf8, b.text[2] = NULL; memset(b.offsets, 0, sizeof b.offsets), NULL)                              \
	X(utf8, b.array.n_buffers = 0, "an array of 0 buffers has no buffer 1")                              \
	X(utf8, b.array.n_buffers = -3, "the array has -3 buffers")                                          \
	X(utf8, b.array.n_buffers = INT64_MAX, "the array has 9223372036854775807 buffers")                  \
	X(utf8, b.array.n_buffers = 2, "an array of 2 buffers has no buffer 2")                              \
	X(utf8, b.offsets[1] = 36; b.offsets[2] = 14, "offset 2 is 14, and the one before it 36")            \
	X(utf8, b.offsets[1] = 1000000000, "offset 2 is 36, and the one before it 1000000000")               \
	X(utf8, b.offsets[1] = -1000000000, "offset 1 is -1000000000")                                       \
	X(utf8, b.offsets[1] = -5, "offset 1 is -5")                                                         \
	X(utf8, b.offsets[0] = -7, "offset 0 is -7")                                                         \
	X(utf8, b.offsets[3] = -50, "offset 3 is -50")                                                       \
	X(utf8, b.offsets[1] = INT32_MIN, "offset 1 is -2147483648")                                         \
	X(utf8, b.schema.format = NULL, "the schema has no format")                                          \
	X(utf8, b.schema.n_children = -1, "the schema has -1 children")                                      \
	X(utf8, b.schema.metadata = memcpy(b.metadata, "\xff\xff\xff\xff", 4), "the schema has metadata of -1 pairs")            \
	X(utf8, b.schema.metadata = memcpy(b.metadata, "\1\0\0\0\xf0\xff\xff\xff", 8), "the schema has metadata with a text of -16 bytes") \
	X(large, , NULL)                                                                                     \
	X(large, b.large[1] = -(1LL << 40), "offset 1 is -1099511627776")                                    \
	X(large, b.large[1] = (1LL << 32) + 14, "offset 2 is 36, and the one before it 4294967310")          \
	X(large, b.large[3] = INT64_MAX, "offset 3 is 9223372036854775807")                                  \
	X(large, b.large[0] = INT64_MIN, "offset 0 is -9223372036854775808")                                 \
	X(dictionary, , NULL)                                                                                \
	X(dictionary, b.indices[1] = 5, "row 1 is value 5 of a dictionary of 3")                             \
	X(dictionary, b.indices[2] = -1, "row 2 is value -1 of a dictionary of 3")                           \
	X(dictionary, b.array.dictionary = NULL, "the dictionary is missing")                                \
	X(dictionary, b.offsets[1] = 1000000, "offset 2 is 36, and the one before it 1000000")               \
	X(dictionary, b.values.length = -1, "the dictionary of the array has -1 rows")                       \
	X(dictionary, b.schema.dictionary->format = NULL, "the dictionary of the schema has no format")      \
	X(dictionary, b.schema.dictionary->dictionary = &b.schema, "the schema has more than 64 levels")     \
	X(dictionary, b.values.dictionary = &b.values, "the array has more than 64 levels")                  \
	X(wide, , NULL)                                                                                      \
	X(wide, b.wide[1] = ~0ULL, "row 1 is value 18446744073709551615 of a dictionary of 3")                                 \
	X(view, , NULL)                                                                                      \
	X(view, b.views[0].buffer = 7, "row 0 is in buffer 7 of 1")                                          \
	X(view, b.views[0].buffer = -1, "row 0 is in buffer -1 of 1")                                        \
	X(view, b.views[0].offset = 100000, "row 0 is from byte 100000 to byte 100036 of 50")                \
	X(view, b.views[0].offset = -20, "row 0 is from byte -20 to byte 16 of 50")                          \
	X(view, b.views[0].length = -4, "row 0 has -4 bytes")                                                \
	X(view, b.views[0].length = 1 << 30, "row 0 is from byte 14 to byte 1073741838 of 50")               \
	X(view, b.sizes[0] = -1, "buffer 2 has -1 bytes")                                                    \
	X(view, b.sizes[0] = INT64_MAX, "buffer 2 has 9223372036854775807 bytes")                            \
	X(view, b.buffers[3] = NULL, "views without the sizes of their buffers")                             \
	X(view, b.buffers[2] = NULL, "row 0 is in buffer 0 of 1")                                            \
	X(view, b.array.n_buffers = 2, "views without the sizes of their buffers")                           \
	X(records, , NULL)                                                                                   \
	X(records, b.array.offset = 1; b.array.length = 2, NULL)                                             \
	X(records, b.array.n_children = 1LL << 40, "the array has 1099511627776 children")                   \
	X(records, b.array.n_children = -1, "the array has -1 children")                                     \
	X(records, b.array.n_children = 0, "the array has 0 children, and its schema 2")                     \
	X(records, b.array.n_children = 1, "the array has 1 children, and its schema 2")                     \
	X(records, b.array.children = NULL, "the array has 2 children, and no pointers to them")             \
	X(records, b.column_pointers[0] = NULL, "child 0 of the array is missing")                           \
	X(records, b.column_pointers[1] = NULL, "child 1 of the array is missing")                           \
	X(records, b.columns[1].n_children = 1; b.columns[1].children = &b.column_pointers[1], "the array has more than 64 levels") \
	X(records, b.columns[0].length = 1, "child 0 of the array has 1 rows, and the array needs 3 of it")  \
	X(records, b.columns[1].length = 1, "child 1 of the array has 1 rows, and the array needs 3 of it")  \
	X(records, b.array.length = 1000000, "child 0 of the array has 3 rows, and the array needs 1000000") \
	X(records, b.array.offset = 2; b.array.length = 2, "has 3 rows, and the array needs 4 of it")        \
	X(records, b.columns[1].n_children = 5, "child 1 of the array has 5 children, and no pointers")      \
	X(records, b.columns[0].release = NULL, "child 0 of the array has been released")                    \
	X(records, b.schema.n_children = 1LL << 40, "the schema has 1099511627776 children")                 \
	X(records, b.schema.n_children = -1, "the schema has -1 children")                                   \
	X(records, b.schema.children = NULL, "the schema has 2 children, and no pointers to them")           \
	X(records, b.field_pointers[0] = NULL, "child 0 of the schema is missing")                           \
	X(records, b.fields[1].release = NULL, "child 1 of the schema has been released")                    \
	X(records, b.fields[0].format = NULL, "child 0 of the schema has no format")                         \
	X(records, b.fields[0].name = NULL, "which column has the URLs?")                                    \
	X(records, b.fields[1].dictionary = &b.fields[1], "the schema has more than 64 levels")              \
	X(records, b.field_pointers[1] = &b.schema, "the schema has more than 64 levels")                    \
	X(nulls, , NULL)                                                                                     \
	X(nulls, b.array.length = -5, "the array has -5 rows")                                               \
	X(nulls, b.array.length = 1LL << 45, "the array has 35184372088832 rows")

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
	(void)s;
	*out = b.schema;
	return 0;
}

static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
	(void)s;
	*out = b.array;
	b.array.release = NULL;
	return 0;
}

static const char *stream_error(struct ArrowArrayStream *s) {
	(void)s;
	return NULL;
}

static void stream_release(struct ArrowArrayStream *s) { s->release = NULL; }

static void check(const char *name, const char *how, int code, const char *error, const char *want) {
	CHECK(code == (want ? EINVAL : 0), "%s, %s: %d, %s", name, how, code, error ? error : "no error");
	CHECK(!want || (error && strstr(error, want)), "%s, %s: %s, want %s", name, how, error ? error : "no error", want);
	CHECK(!error || !strstr(error, "fault of the library"), "%s, %s: %s", name, how, error);
	CHECK(released == 1, "%s, %s: released %ld times", name, how, released);
	CHECK(urlmill_alive() == 1, "%s, %s: %ld are alive", name, how, (long)urlmill_alive()); /* the processor */
}

static void alone(struct urlmill_processor *p, const char *name, const char *want) {
	struct ArrowArray out;
	char *error = NULL;
	released = 0;
	b.array.release = free_array;
	int code = urlmill_parse_array(p, &b.schema, &b.array, &out, &error);
	if (!code) {
		CHECK(out.length >= 2, "%s: %d rows", name, (int)out.length);
		out.release(&out);
	}
	check(name, "alone", code, error, want);
	urlmill_free(error);
}

static void streamed(struct urlmill_processor *p, const char *name, const char *want) {
	struct ArrowArrayStream in = {stream_schema, stream_next, stream_error, stream_release, NULL}, s;
	struct ArrowArray out = {.release = NULL};
	char error[1000] = "";
	released = 0;
	b.array.release = free_array;
	int code = urlmill_parse(p, &in, &s);
	if (!code) code = s.get_next(&s, &out);
	if (code) snprintf(error, sizeof error, "%s", s.get_last_error(&s));
	if (out.release) out.release(&out);
	s.release(&s);
	CHECK(!in.release, "%s: the stream was not released", name);
	if (b.array.release) released++; /* the stream ended at the schema and was not asked for the array */
	check(name, "streamed", code, error, want);
}

/* A stream of rows that no memory holds is parsed batch by batch. */
static void endless(void) {
	struct urlmill_processor *p = processor("{\"batch_rows\": 1000}");
	struct ArrowArrayStream in = {stream_schema, stream_next, stream_error, stream_release, NULL}, s;
	start();
	nulls();
	b.array.length = 1LL << 39;
	b.array.release = free_array;
	released = 0;
	CHECK(urlmill_parse(p, &in, &s) == 0, "no stream");
	for (int i = 0; i < 10; i++) {
		struct ArrowArray out;
		CHECK(s.get_next(&s, &out) == 0 && out.length == 1000, "%d rows: %s", (int)out.length, s.get_last_error(&s));
		out.release(&out);
	}
	s.release(&s);
	CHECK(released == 1, "released %ld times", released);
	struct ArrowArray out;
	char *error;
	b.array.release = free_array;
	CHECK(urlmill_parse_array(p, &b.schema, &b.array, &out, &error) == E2BIG && strstr(error, "slices"), "%s", error);
	urlmill_free(error);
	urlmill_processor_free(p);
}

int main(void) {
	struct urlmill_processor *p = processor("{\"include\": [\"host\", \"path\"]}");
	int cases = 0;
#define RUN(batch, change, want)                                                                 \
	for (int i = 0; i < 2; i++, cases++) {                                                       \
		start();                                                                                 \
		batch();                                                                                 \
		change;                                                                                  \
		fprintf(stderr, "%s: " #batch " " #change "\n", i ? "streamed" : "alone"); /* of a crash */ \
		(i ? streamed : alone)(p, #batch " " #change, want);                                     \
	}
	CASES(RUN)
	urlmill_processor_free(p);
	endless();
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
	printf("%d cases\n", cases);
	return 0;
}
