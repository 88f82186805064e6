/* How much longer a batch takes over the border than without it, in CPU time of the thread: whole streams of 8 batches of 64 K
 * rows, opened, read and released, in turn with 8 mere calls of the Go API. The figure is the median of the differences of neighbours
 * over the median without. Needs a library built with -tags crossing. */
#include <time.h>

#include "input.h"

extern int64_t urlmillDirect(uintptr_t processor, struct ArrowArrayStream *in);

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int compare(const void *a, const void *b) {
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

#define BATCHES 8

static int64_t over(struct urlmill_processor *p, struct feed *f, enum layout layout) {
	struct ArrowArrayStream in = feed_stream(f, layout, BATCHES), out;
	struct ArrowSchema schema;
	struct ArrowArray a;
	int64_t began = now();
	CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
	CHECK(out.get_schema(&out, &schema) == 0, "%s", out.get_last_error(&out));
	schema.release(&schema);
	for (;;) {
		CHECK(out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
		if (!a.release) break;
		a.release(&a);
	}
	out.release(&out);
	return (now() - began) / BATCHES;
}

static int64_t direct(struct urlmill_processor *p, struct feed *f, enum layout layout) {
	int64_t sum = 0;
	for (int i = 0; i < BATCHES; i++) {
		struct ArrowArrayStream in = feed_stream(f, layout, 1);
		sum += urlmillDirect((uintptr_t)p, &in);
	}
	return sum / BATCHES;
}

static void measure(const char *name, const char *options, enum layout layout, struct feed *f, int runs) {
	struct urlmill_processor *p = processor(options);
	int64_t *a = calloc(runs, sizeof *a), *b = calloc(runs, sizeof *b), *extra = calloc(runs, sizeof *extra);
	for (int i = 0; i < 5; i++) over(p, f, layout), direct(p, f, layout);
	for (int i = 0; i < runs; i++) {
		if (i % 2) a[i] = over(p, f, layout), b[i] = direct(p, f, layout);
		else b[i] = direct(p, f, layout), a[i] = over(p, f, layout);
		extra[i] = a[i] - b[i];
	}
	qsort(a, runs, sizeof *a, compare);
	qsort(extra, runs, sizeof *extra, compare);
	qsort(b, runs, sizeof *b, compare);
	double with = a[runs / 2], without = b[runs / 2];
	printf("%-28s %7.1f us without, %7.1f us over the border: %+.2f %%\n", name, without / 1e3, with / 1e3, 100 * extra[runs / 2] / without);
	free(a), free(b), free(extra);
	urlmill_processor_free(p);
}

int main(int argc, char **argv) {
	int runs = argc > 1 ? atoi(argv[1]) : 100;
	struct feed f;
	feed_new(&f, 65536, 0);
	measure("utf8, all columns", "", UTF8, &f, runs);
	measure("utf8, host, path and query", "{\"include\": [\"host\", \"path\", \"query\"]}", UTF8, &f, runs);
	measure("record batch, all columns", "{\"url\": \"page\"}", RECORDS, &f, runs);
	feed_free(&f);
	return 0;
}
