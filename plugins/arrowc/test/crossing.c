/* How much longer a batch of 64 K rows takes over the border than without it: whole streams, opened, asked for their schema, read and
 * released, in turn with as many mere calls of the Go API in the same process. What is compared is the CPU time of the thread and,
 * where Linux lets a program count them, the instructions that it ran outside of the kernel, which do not know how busy the machine is.
 *
 * A round is pairs of neighbours, and its figure the median of their differences over the median without. Printed is the median
 * of the rounds, with the least and the most. Needs a library built with -tags crossing.
 *
 *   crossing [pairs of a round [rounds [MODE]]]     MODE: over or without, which does nothing but one of the two, for a profiler */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "input.h"

/* cost is what direct.go counts as well. */
struct cost {
	int64_t nanoseconds, instructions;
};

/* Parses a batch of in without the border, and adds what the call of the Go API cost. */
extern void urlmillDirect(uintptr_t processor, struct ArrowArrayStream *in, int counter, struct cost *cost);

static int counter; /* of the instructions of this thread, -1 where it may not be had */

static void count_instructions(void) {
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1,
	};
	counter = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct cost now(void) {
	struct timespec t;
	struct cost c = {0, 0};
	if (counter >= 0 && read(counter, &c.instructions, sizeof c.instructions) != sizeof c.instructions) c.instructions = 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	c.nanoseconds = t.tv_sec * 1000000000L + t.tv_nsec;
	return c;
}

static struct cost less(struct cost a, struct cost b) {
	return (struct cost){a.nanoseconds - b.nanoseconds, a.instructions - b.instructions};
}

static struct cost over(struct urlmill_processor *p, struct feed *f, enum layout layout, int batches) {
	struct ArrowArrayStream in = feed_stream(f, layout, batches), out;
	struct ArrowSchema schema;
	struct ArrowArray a;
	struct cost idle = now(), began = now(), spent;
	CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
	CHECK(out.get_schema(&out, &schema) == 0, "%s", out.get_last_error(&out));
	schema.release(&schema);
	for (;;) {
		CHECK(out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
		if (!a.release) break;
		a.release(&a);
	}
	out.release(&out);
	spent = less(less(now(), began), less(began, idle)); /* what measuring costs is no part of it, nor is it without the border */
	return (struct cost){spent.nanoseconds / batches, spent.instructions / batches};
}

static struct cost direct(struct urlmill_processor *p, struct feed *f, enum layout layout, int batches) {
	struct cost sum = {0, 0};
	for (int i = 0; i < batches; i++) {
		struct ArrowArrayStream in = feed_stream(f, layout, 1);
		urlmillDirect((uintptr_t)p, &in, counter, &sum);
	}
	return (struct cost){sum.nanoseconds / batches, sum.instructions / batches};
}

static int compare(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, int n) {
	qsort(values, n, sizeof *values, compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* pairs of neighbours, with and without, of one unit of cost. */
struct pairs {
	double *without, *extra;
	int n;
};

static void add(struct pairs *p, int64_t with, int64_t without) {
	p->without[p->n] = without;
	p->extra[p->n++] = with - without;
}

static double percent(struct pairs *p, double *without) {
	double extra = median(p->extra, p->n);
	*without = median(p->without, p->n);
	return 100 * extra / *without;
}

struct shape {
	const char *name, *options;
	enum layout layout;
	int batches; /* of a stream */
};

static const struct shape shapes[] = {
	{"utf8, all columns", "", UTF8, 8},
	{"utf8, all columns", "", UTF8, 1},
	{"utf8, host, path and query", "{\"include\": [\"host\", \"path\", \"query\"]}", UTF8, 8},
	{"utf8, host, path and query", "{\"include\": [\"host\", \"path\", \"query\"]}", UTF8, 1},
	{"record batch, all columns", "{\"url\": \"page\"}", RECORDS, 8},
	{"record batch, all columns", "{\"url\": \"page\"}", RECORDS, 1},
};

static void spread(double *of_rounds, int rounds) {
	double middle = median(of_rounds, rounds);
	printf("  %+6.2f %% (%+.2f to %+.2f)", middle, of_rounds[0], of_rounds[rounds - 1]);
}

static void measure(const struct shape *s, struct feed *f, int n, int rounds) {
	struct urlmill_processor *p = processor(s->options);
	double *time = calloc(rounds, sizeof *time), *work = calloc(rounds, sizeof *work), *plain = calloc(rounds, sizeof *plain), ignored;
	struct pairs t = {calloc(n, sizeof(double)), calloc(n, sizeof(double)), 0}, w = {calloc(n, sizeof(double)), calloc(n, sizeof(double)), 0};
	for (int i = 0; i < 5; i++) over(p, f, s->layout, s->batches), direct(p, f, s->layout, s->batches);
	for (int r = 0; r < rounds; r++) {
		t.n = w.n = 0;
		for (int i = 0; i < n; i++) {
			struct cost with, without;
			if (i % 2) with = over(p, f, s->layout, s->batches), without = direct(p, f, s->layout, s->batches);
			else without = direct(p, f, s->layout, s->batches), with = over(p, f, s->layout, s->batches);
			add(&t, with.nanoseconds, without.nanoseconds);
			add(&w, with.instructions, without.instructions);
		}
		time[r] = percent(&t, &plain[r]);
		work[r] = counter < 0 ? 0 : percent(&w, &ignored);
	}
	printf("%-27s %7d  %8.1f us", s->name, s->batches, median(plain, rounds) / 1e3);
	spread(time, rounds);
	if (counter >= 0) spread(work, rounds);
	printf("\n");
	free(time), free(work), free(plain), free(t.without), free(t.extra), free(w.without), free(w.extra);
	urlmill_processor_free(p);
}

int main(int argc, char **argv) {
	int pairs = argc > 1 ? atoi(argv[1]) : 40, rounds = argc > 2 ? atoi(argv[2]) : 5;
	struct feed f;
	count_instructions();
	feed_new(&f, 65536, 0);
	if (argc > 3) {
		struct urlmill_processor *p = processor(shapes[0].options);
		for (int i = 0; i < pairs * rounds; i++) *argv[3] == 'o' ? over(p, &f, UTF8, 1) : direct(p, &f, UTF8, 1);
		return 0;
	}
	printf("%-27s %7s  %11s  what the border adds: CPU time%s\n", "65,536 rows a batch", "batches", "without",
		counter < 0 ? "" : ", instructions");
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) measure(&shapes[i], &f, pairs, rounds);
	if (counter < 0) printf("instructions could not be counted here: see /proc/sys/kernel/perf_event_paranoid\n");
	feed_free(&f);
	return 0;
}
