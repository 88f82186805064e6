/* What a batch of 64 K rows costs over the border and without it: whole streams, opened, asked for their schema, read and released, or
 * arrays without a stream, in turn with as many mere calls of the Go API in the same process, and with those once more, which shows how far two measurements of
 * the same are apart. benchmarks/crossing makes figures of it. Needs a library built with -tags crossing.
 *
 * What is taken is the CPU time of the thread and, where Linux lets a program count them, the cycles and the instructions that it
 * ran outside of the kernel.
 *
 * The parser is 1 to 3 % faster or slower by where its stack happens to lie, as Go aligns that to 8 bytes, and lines of
 * the cache have 64; the three ways would each have a place of their own for as long as the process lives. So each is measured at
 * all eight places within a line, and at random lines.
 *
 *   crossing [ROUNDS [REPETITIONS [ROWS [MODE]]]]     REPETITIONS of streams of one batch; longer ones are measured once a round
 *
 * MODE is over or without, which does nothing but one of them, for a profiler.
 *
 * Lines that come out, with tabs: "shape NAME BATCHES"; "sample ROUND PLACE", and of a batch nanoseconds, cycles and instructions of
 * the border by itself, which is all but the calls of the Go API, and of all of it over the border, without, and without
 * again; "faults N" and "interrupted N", the page faults of the shape, and how often another thread was given the CPU.
 * Cycles and instructions are 0 where they cannot be counted. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../crossing.h"
#include "input.h"

/* These are in direct.go and parser_timed.go. */
extern void urlmillDirect(uintptr_t processor, struct ArrowArrayStream *in, int counters, struct cost *cost);
extern void urlmillInside(int counters, struct cost *was);
extern uintptr_t urlmillDeeper(int frames, urlmill_run run, void *arg);

static int counters; /* of cycles and instructions of this thread, -1 where they may not be had */

static void count(void) {
	struct perf_event_attr attr = {
		.size = sizeof attr, .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1, .exclude_hv = 1, .read_format = PERF_FORMAT_GROUP,
	};
	counters = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counters < 0) return;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	if (syscall(SYS_perf_event_open, &attr, 0, -1, counters, PERF_FLAG_FD_CLOEXEC) < 0) {
		close(counters);
		counters = -1;
	}
}

static struct cost now(void) {
	struct timespec t;
	struct counted group = {0, 0, 0};
	if (counters >= 0) CHECK(read(counters, &group, sizeof group) == sizeof group, "the counters cannot be read");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (struct cost){t.tv_sec * 1000000000L + t.tv_nsec, group.cycles, group.instructions};
}

static struct cost less(struct cost a, struct cost b) {
	return (struct cost){a.nanoseconds - b.nanoseconds, a.cycles - b.cycles, a.instructions - b.instructions};
}

/* What is measured once. */
struct task {
	struct urlmill_processor *p;
	struct feed *f;
	enum layout layout;
	int batches; /* of a stream */
	int once;    /* arrays go one by one, without a stream */
	int direct;
	struct cost spent, border; /* of all batches; in all, and of it outside of the parser */
};

static void stream(struct task *t, struct ArrowArrayStream in) {
	struct ArrowArrayStream out;
	struct ArrowSchema schema;
	struct ArrowArray a;
	CHECK(urlmill_parse(t->p, &in, &out) == 0, "%s", out.get_last_error(&out));
	CHECK(out.get_schema(&out, &schema) == 0, "%s", out.get_last_error(&out));
	schema.release(&schema);
	for (;;) {
		CHECK(out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
		if (!a.release) break;
		a.release(&a);
	}
	out.release(&out);
}

static void array(struct task *t, const struct ArrowSchema *schema, struct ArrowArray *in) {
	struct ArrowArray out;
	char *error;
	CHECK(urlmill_parse_array(t->p, schema, in, &out, &error) == 0, "%s", error);
	out.release(&out);
}

static void over(struct task *t) {
	struct ArrowArrayStream in = feed_stream(t->f, t->layout, t->batches);
	struct ArrowSchema schema;
	struct ArrowArray a;
	struct cost inside, idle, began;
	if (t->once) { /* a host has the array, and the schema for all */
		in.get_schema(&in, &schema);
		in.get_next(&in, &a);
	}
	urlmillInside(counters, &inside);
	idle = now();
	began = now();
	if (t->once) array(t, &schema, &a);
	else stream(t, in);
	t->spent = less(less(now(), began), less(began, idle)); /* what measuring costs is no part of it, nor is it without the border */
	urlmillInside(counters, &inside);
	t->border = less(t->spent, inside);
	if (t->once) schema.release(&schema);
}

static void run(void *task) {
	struct task *t = task;
	t->spent = t->border = (struct cost){0, 0, 0};
	if (!t->direct) {
		over(t);
		return;
	}
	for (int i = 0; i < t->batches; i++) {
		struct ArrowArrayStream in = feed_stream(t->f, t->layout, 1);
		urlmillDirect((uintptr_t)t->p, &in, counters, &t->spent);
	}
}

enum { PLACES = 8, LINES = 13 }; /* places within a line; as many steps of some lines make a page of memory */

static void nothing(void *ignored) { (void)ignored; }

static void check_places(void) {
	int seen = 0;
	for (int i = 0; i < PLACES; i++) seen |= 1 << urlmillDeeper(i, nothing, NULL) % 64 / 8;
	CHECK(seen == (1 << PLACES) - 1, "frames of Go do not come to lie at all places of a line: %x", seen);
}

static void put(FILE *to, const struct cost *c, int batches) {
	fprintf(to, "\t%ld\t%ld\t%ld", (long)c->nanoseconds / batches, (long)c->cycles / batches, (long)c->instructions / batches);
}

/* any returns a number below n. The numbers are the same in every run. */
static int any(int n) {
	static uint32_t x = 2463534242;
	x ^= x << 13, x ^= x >> 17, x ^= x << 5;
	return x % n;
}

struct shape {
	const char *name, *options;
	enum layout layout;
	int batches, once;
};

static const struct shape shapes[] = {
	{"utf8, all columns", "", UTF8, 8, 0},
	{"utf8, all columns", "", UTF8, 1, 0},
	{"utf8, all columns, no stream", "", UTF8, 1, 1},
	{"utf8, host, path and query", "{\"include\": [\"host\", \"path\", \"query\"]}", UTF8, 8, 0},
	{"utf8, host, path and query", "{\"include\": [\"host\", \"path\", \"query\"]}", UTF8, 1, 0},
	{"utf8, host, path and query, no stream", "{\"include\": [\"host\", \"path\", \"query\"]}", UTF8, 1, 1},
	{"record batch, all columns", "{\"url\": \"page\"}", RECORDS, 8, 0},
	{"record batch, all columns", "{\"url\": \"page\"}", RECORDS, 1, 0},
};

enum { WAYS = 3 }; /* over the border, without, and without again */

/* sample measures the three ways at a place, in the order that number says, and writes what they cost. */
static void sample(struct task *t, int place, int number, FILE *to) {
	struct cost costs[WAYS], border = {0, 0, 0};
	for (int i = 0; i < WAYS; i++) {
		int way = (number % WAYS + (number / WAYS % 2 ? WAYS - i : i)) % WAYS;
		t->direct = way > 0;
		urlmillDeeper(place + PLACES * any(LINES), run, t);
		costs[way] = t->spent;
		if (way == 0) border = t->border;
	}
	if (!to) return;
	put(to, &border, t->batches);
	for (int way = 0; way < WAYS; way++) put(to, &costs[way], t->batches);
	fprintf(to, "\n");
}

static void measure(const struct shape *s, struct feed *f, int rounds, int repetitions) {
	struct task t = {processor(s->options), f, s->layout, s->batches, s->once, 0, {0, 0, 0}, {0, 0, 0}};
	struct rusage before, after;
	int number = 0;
	for (int place = 0; place < PLACES; place++) sample(&t, place, place, NULL);
	printf("shape\t%s\t%d\n", s->name, s->batches);
	getrusage(RUSAGE_THREAD, &before);
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < (s->batches > 1 ? 1 : repetitions) * PLACES; i++) {
			printf("sample\t%d\t%d", r, i % PLACES);
			sample(&t, i % PLACES, number++, stdout);
		}
	}
	getrusage(RUSAGE_THREAD, &after);
	printf("faults\t%ld\n", after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt);
	printf("interrupted\t%ld\n", after.ru_nivcsw - before.ru_nivcsw);
	fflush(stdout);
	urlmill_processor_free(t.p);
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 9, repetitions = argc > 2 ? atoi(argv[2]) : 4, rows = argc > 3 ? atoi(argv[3]) : 65536;
	struct feed f;
	count();
	feed_new(&f, rows, 0);
	check_places();
	if (argc > 4) {
		struct task t = {processor(shapes[0].options), &f, UTF8, 1, 0, *argv[4] != 'o', {0, 0, 0}, {0, 0, 0}};
		for (int i = 0; i < rounds * repetitions; i++) urlmillDeeper(any(PLACES * LINES), run, &t);
		return 0;
	}
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) measure(&shapes[i], &f, rounds, repetitions);
	feed_free(&f);
	return 0;
}
