/* Arrays and schemas that a fuzzer has changed: whatever is wrong with them, they are released, nothing is left over, no fault
 * is the library's, and the process goes on. What the interface does not tell, how long buffers are, stays true.
 *
 *   fuzz  reads changes from its standard input, each set with its length before it as four bytes, and answers each with a byte */
#define main malformed_main
#include "malformed.c"
#undef main

enum kind { ROWS, COUNT, OFFSET, LARGE_OFFSET, ANY32, ANY64, SIZE, POINTER, FORMAT, ITSELF };

/* What can be changed, and into what. */
static const struct {
	void *at;
	enum kind kind;
	int64_t most; /* that is true */
	void *to;
} places[] = {
	{&b.array.length, ROWS, 3, 0}, {&b.array.offset, ROWS, 3, 0}, {&b.array.null_count, ROWS, 3, 0}, {&b.array.n_buffers, COUNT, 2, 0},
	{&b.array.n_children, COUNT, 0, 0}, {&b.schema.n_children, COUNT, 0, 0}, {&b.array.buffers, POINTER, 0, 0}, {&b.array.children, POINTER, 0, 0},
	{&b.schema.children, POINTER, 0, 0}, {&b.array.dictionary, POINTER, 0, 0}, {&b.schema.dictionary, POINTER, 0, 0}, {&b.schema.format, FORMAT, 0, 0},
	{&b.schema.name, POINTER, 0, 0}, {&b.values_schema.format, FORMAT, 0, 0}, {&b.values_schema.dictionary, ITSELF, 0, &b.values_schema},
	{&b.values.length, ROWS, 3, 0}, {&b.values.offset, ROWS, 3, 0}, {&b.values.null_count, ROWS, 3, 0}, {&b.values.n_buffers, COUNT, 3, 0},
	{&b.values.buffers, POINTER, 0, 0}, {&b.values.dictionary, ITSELF, 0, &b.values}, {&b.columns[0].length, ROWS, 3, 0}, {&b.columns[0].offset, ROWS, 3, 0},
	{&b.columns[0].null_count, ROWS, 3, 0}, {&b.columns[0].n_buffers, COUNT, 3, 0}, {&b.columns[0].release, POINTER, 0, 0}, {&b.columns[1].length, ROWS, 3, 0},
	{&b.columns[1].offset, ROWS, 3, 0}, {&b.columns[1].n_buffers, COUNT, 3, 0}, {&b.columns[1].children, ITSELF, 0, &b.column_pointers[1]},
	{&b.columns[1].n_children, COUNT, 1, 0}, {&b.fields[0].format, FORMAT, 0, 0}, {&b.fields[0].name, POINTER, 0, 0}, {&b.fields[1].format, FORMAT, 0, 0},
	{&b.fields[1].dictionary, ITSELF, 0, &b.fields[1]}, {&b.field_pointers[0], POINTER, 0, 0}, {&b.field_pointers[1], ITSELF, 0, &b.schema},
	{&b.column_pointers[0], POINTER, 0, 0}, {&b.column_pointers[1], POINTER, 0, 0}, {&b.buffers[1], POINTER, 0, 0}, {&b.buffers[2], POINTER, 0, 0},
	{&b.buffers[3], POINTER, 0, 0}, {&b.text[1], POINTER, 0, 0}, {&b.text[2], POINTER, 0, 0}, {&b.offsets[0], OFFSET, 50, 0}, {&b.offsets[1], OFFSET, 50, 0},
	{&b.offsets[2], OFFSET, 50, 0}, {&b.offsets[3], OFFSET, 50, 0}, {&b.large[0], LARGE_OFFSET, 50, 0}, {&b.large[1], LARGE_OFFSET, 50, 0},
	{&b.large[2], LARGE_OFFSET, 50, 0}, {&b.large[3], LARGE_OFFSET, 50, 0}, {&b.indices[0], ANY32, 3, 0}, {&b.indices[1], ANY32, 3, 0},
	{&b.indices[3], ANY32, 3, 0}, {&b.wide[0], ANY64, 3, 0}, {&b.wide[1], ANY64, 3, 0}, {&b.views[0].length, ANY32, 50, 0}, {&b.views[0].buffer, ANY32, 1, 0},
	{&b.views[0].offset, ANY32, 50, 0}, {&b.views[1].length, ANY32, 12, 0}, {&b.sizes[0], SIZE, 50, 0},
};

static const int64_t wrong64[] = {-1, INT64_MIN, INT64_MAX, 1LL << 62, -(1LL << 40)};
static const int32_t wrong32[] = {-1, INT32_MIN, INT32_MAX, 1 << 30, -1000000000};
static const char *formats[] = {NULL, "", "!", "+"};

/* number returns one that is true for values below 128, and else one that cannot be. */
static int64_t number(int64_t most, uint8_t value) { return value < 128 ? value % (most + 1) : wrong64[value % 5]; }

static void change(uint8_t place, uint8_t value) {
	place %= sizeof places / sizeof *places;
	void *at = places[place].at;
	int64_t n = number(places[place].most, value);
	switch (places[place].kind) {
	case COUNT: /* fewer than there are, never more */
		if (n > *(int64_t *)at && n < 1LL << 40) break;
		/* fall through */
	case ROWS:
	case LARGE_OFFSET:
	case ANY64:
	case SIZE: memcpy(at, &n, 8); break;
	case OFFSET:
	case ANY32: {
		int32_t m = value < 128 ? (int32_t)n : wrong32[value % 5];
		memcpy(at, &m, 4);
		break;
	}
	case POINTER: memset(at, 0, sizeof(void *)); break;
	case FORMAT: memcpy(at, &formats[value % 4], sizeof(char *)); break;
	case ITSELF: memcpy(at, &places[place].to, sizeof(void *)); break;
	}
}

/* hold has an array end where its buffers do, and its text where the bytes do, as nothing tells the library that. */
static void hold(struct ArrowArray *a, int64_t rows) {
	int fine = a->length >= 0 && a->length <= rows && a->offset >= 0 && a->offset <= rows;
	if (fine && a->offset + a->length > rows) a->length = rows - a->offset;
	int64_t end = fine ? a->offset + a->length : 3;
	if (end > 3) end = 3;
	for (int64_t i = end; i < 4; i++) {
		if (b.offsets[i] > 50) b.offsets[i] = 50;
		if (b.large[i] > 50) b.large[i] = 50;
	}
}

static const struct {
	void (*make)(void);
	int64_t rows;
} batches[] = {{utf8, 3}, {large, 3}, {dictionary, 4}, {wide, 4}, {view, 2}, {records, 3}, {nulls, 5}};

static void one(struct urlmill_processor *p, const uint8_t *in, uint32_t n) {
	struct ArrowArrayStream given = {stream_schema, stream_next, stream_error, stream_release, NULL}, s;
	struct ArrowArray out = {.release = NULL};
	char *error = NULL;
	int which = in[0] % 7;
	start();
	batches[which].make();
	for (uint32_t i = 2; i + 1 < n; i += 2) change(in[i], in[i + 1]);
	hold(&b.array, batches[which].rows);
	hold(&b.values, 3);
	hold(&b.columns[0], 3);
	hold(&b.columns[1], 3);
	released = 0;
	b.array.release = free_array;
	if (in[1] & 1) {
		int code = urlmill_parse(p, &given, &s);
		if (!code) code = s.get_next(&s, &out);
		if (code) error = strdup(s.get_last_error(&s));
		if (out.release) out.release(&out);
		s.release(&s);
		CHECK(!given.release, "the stream was not released");
		if (b.array.release) released++; /* it was not asked for */
	} else {
		if (!urlmill_parse_array(p, &b.schema, &b.array, &out, &error)) out.release(&out);
	}
	CHECK(!error || !strstr(error, "fault of the library"), "%s", error);
	CHECK(released == 1, "released %ld times: %s", released, error ? error : "no error");
	CHECK(urlmill_alive() == 1, "%ld are alive", (long)urlmill_alive()); /* the processor */
	if (in[1] & 1)
		free(error);
	else
		urlmill_free(error);
}

int main(void) {
	struct urlmill_processor *p = processor("{\"include\": [\"host\", \"path\"]}");
	static uint8_t in[1 << 16];
	uint32_t n;
	while (fread(&n, 4, 1, stdin) == 1) {
		CHECK(n >= 2 && n <= sizeof in && fread(in, 1, n, stdin) == n, "%u bytes", n);
		one(p, in, n);
		putchar('.');
		fflush(stdout);
	}
	urlmill_processor_free(p);
	return 0;
}
