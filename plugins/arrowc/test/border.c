/* What crosses the border comes back: batches of every layout, released in every order and on other threads, errors of
 * every kind; nothing is left over.
 *
 *   border [BATCHES | never-released] */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void layouts(int nulls) {
	struct feed f;
	feed_new(&f, 1000, nulls);
	struct urlmill_processor *p = processor("{\"include\": [\"host\", \"path\", \"url_error\", \"params\"]}");
	for (enum layout layout = UTF8; layout <= DICTIONARY; layout++) {
		struct ArrowArrayStream in = feed_stream(&f, layout, 3), out;
		struct ArrowSchema schema;
		struct ArrowArray a[4];
		CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
		CHECK(!in.release, "the input was not moved");
		CHECK(out.get_schema(&out, &schema) == 0, "%s", out.get_last_error(&out));
		is(schema.format, "+s");
		is(schema.children[3]->children[0]->children[1]->name, "value");
		schema.release(&schema);
		for (int i = 0; i < 4; i++) CHECK(out.get_next(&out, &a[i]) == 0, "%s", out.get_last_error(&out));
		CHECK(!a[3].release, "there is no end");
		out.release(&out);
		for (int i = 0; i < 3; i++) values(&a[i], nulls); /* no batch has changed another, and all outlive the stream */
		for (int i = 0; i < 3; i++) a[i].release(&a[i]);
	}
	done(p, &f);
}

/* Columns go along, sliced input as well, and a child outlives what it was moved out of. */
static void records(void) {
	struct feed f;
	feed_new(&f, 1000, 0);
	struct urlmill_processor *p = processor("{\"url\": \"page\", \"include\": [\"host\", \"path\", \"url_error\"]}");
	struct ArrowArrayStream in = feed_stream(&f, RECORDS, 1), out;
	struct ArrowSchema schema;
	struct ArrowArray a, child;
	CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
	urlmill_processor_free(p); /* streams go on */
	CHECK(out.get_schema(&out, &schema) == 0 && schema.n_children == 4, "%d children", (int)schema.n_children);
	is(schema.children[3]->name, "id");
	is(schema.children[3]->format, "l");
	schema.release(&schema);
	CHECK(out.get_next(&out, &a) == 0 && a.n_children == 4, "%d children", (int)a.n_children);
	out.release(&out);
	values(&a, 0);
	CHECK(((const int64_t *)a.children[3]->buffers[1])[96] == 96, "the ids are not the input's");
	child = *a.children[3];
	a.children[3]->release = NULL;
	a.release(&a);
	CHECK(f.released < f.made, "the input was released before its column");
	CHECK(((const int64_t *)child.buffers[1])[96] == 96, "the ids are gone");
	child.release(&child);
	CHECK(f.made == f.released, "%ld made, %ld released", f.made, f.released);
	feed_free(&f);
}

/* A stream has as many schemas as are asked for, and a child of one, nested as it may be, outlives what it was moved out of. */
static void schemas(void) {
	struct feed f;
	feed_new(&f, 10, 0);
	struct urlmill_processor *p = processor("{\"url\": \"page\", \"include\": [\"host\", \"params\"]}");
	struct ArrowArrayStream in = feed_stream(&f, RECORDS, 0), out;
	struct ArrowSchema schema[3], params;
	CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
	for (int i = 0; i < 3; i++) CHECK(out.get_schema(&out, &schema[i]) == 0, "%s", out.get_last_error(&out));
	out.release(&out);
	urlmill_processor_free(p);
	params = *schema[0].children[1];
	schema[0].children[1]->release = NULL;
	schema[0].release(&schema[0]);
	for (int i = 1; i < 3; i++) {
		CHECK(schema[i].n_children == 3 && !(schema[i].flags & ARROW_FLAG_NULLABLE), "%d children", (int)schema[i].n_children);
		is(schema[i].format, "+s");
		is(schema[i].children[0]->name, "host");
		is(schema[i].children[0]->format, "u");
		is(schema[i].children[2]->name, "id");
		is(schema[i].children[2]->format, "l");
		schema[i].release(&schema[i]);
	}
	is(params.name, "params");
	is(params.format, "+l");
	is(params.children[0]->format, "+s");
	is(params.children[0]->children[0]->name, "key");
	CHECK(params.children[0]->n_children == 2, "%d children", (int)params.children[0]->n_children);
	params.release(&params);
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
	feed_free(&f);
}

/* A batch of the input comes out as several, and the last of them keeps its columns when all others are gone. */
static void split(void) {
	struct feed f;
	feed_new(&f, 1000, 1);
	struct urlmill_processor *p = processor("{\"url\": \"page\", \"include\": [\"host\", \"path\", \"url_error\"], \"batch_rows\": 300}");
	struct ArrowArrayStream in = feed_stream(&f, RECORDS, 2), out;
	struct ArrowArray a[9];
	int64_t rows[9] = {300, 300, 300, 100, 300, 300, 300, 100, 0};
	CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
	for (int i = 0; i < 9; i++) {
		CHECK(out.get_next(&out, &a[i]) == 0, "%s", out.get_last_error(&out));
		CHECK(a[i].length == rows[i], "%d rows", (int)a[i].length);
		if (!a[i].release) continue;
		struct ArrowArray *id = a[i].children[3];
		CHECK(((const int64_t *)id->buffers[1])[id->offset] == i % 4 * 300, "the wrong ids go along");
		CHECK(id->length == a[i].length, "%d ids", (int)id->length);
	}
	for (int i = 0; i < 7; i++) a[i].release(&a[i]);
	out.release(&out);
	is(text(a[7].children[0], 51), "www.shop951.co.uk");
	is(text(a[7].children[2], 50), "record-field-missing");
	a[7].release(&a[7]);
	done(p, &f);
}

static void errors(void) {
	struct feed f;
	struct ArrowArrayStream in, out;
	struct ArrowSchema schema;
	struct ArrowArray a;
	struct urlmill_processor *p;
	char *error;
	feed_new(&f, 10, 0);
	CHECK(urlmill_processor_new("{\"include\": [\"hots\"]}", &p, &error) == EINVAL && !p, "wrong options");
	CHECK(strstr(error, "hots"), "%s", error);
	urlmill_free(error);
	CHECK(urlmill_processor_new("{\"nope\": 1}", &p, NULL) == EINVAL, "unknown options");
	CHECK(urlmill_processor_new(NULL, &p, &error) == 0 && !error, "%s", error);
	urlmill_processor_free(p);

	p = processor("{\"url\": \"nope\"}");
	in = feed_stream(&f, RECORDS, 1);
	CHECK(urlmill_parse(p, &in, &out) == EINVAL, "there is such a column");
	CHECK(out.get_schema(&out, &schema) == EINVAL && out.get_next(&out, &a) == EINVAL, "the stream is open");
	CHECK(strstr(out.get_last_error(&out), "it has id, page"), "%s", out.get_last_error(&out));
	out.release(&out);
	urlmill_processor_free(p);

	p = processor("{\"url\": \"id\"}");
	in = feed_stream(&f, RECORDS, 1);
	CHECK(urlmill_parse(p, &in, &out) == EINVAL, "a number is a URL");
	CHECK(strstr(out.get_last_error(&out), "column \"id\" is of type int64 (\"l\" in"), "%s", out.get_last_error(&out));
	out.release(&out);
	in = feed_stream(&f, UTF8, 1); /* an array: the name is not asked for */
	CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
	f.fail_at = 0;
	CHECK(out.get_next(&out, &a) == 5, "the input's error was lost");
	is(out.get_last_error(&out), "the disk is on fire");
	out.release(&out);
	in.release = NULL;
	CHECK(urlmill_parse(p, &in, &out) == EINVAL, "a released stream was taken");
	out.release(&out);
	CHECK(urlmill_parse(NULL, &in, &out) == EINVAL, "no processor was taken");
	out.release(&out);
	urlmill_processor_free(p);
	urlmill_processor_free(NULL);
	feed_free(&f);
}

/* What a host gets wrong is an error, and what it has handed over is released all the same. */
static void misuse(void) {
	struct feed f;
	struct ArrowArrayStream in, out;
	struct ArrowSchema schema;
	struct ArrowArray a;
	char *error = "";
	feed_new(&f, 10, 0);
	CHECK(urlmill_processor_new("{}", NULL, &error) == EINVAL && !error, "there is nowhere to put the processor");
	CHECK(urlmill_processor_new("{}", NULL, NULL) == EINVAL, "there is nowhere to put anything");
	struct urlmill_processor *p = processor("{}"), *freed = p;
	CHECK(urlmill_parse(p, NULL, &out) == EINVAL, "no input was taken");
	CHECK(out.get_schema(&out, &schema) == EINVAL && strstr(out.get_last_error(&out), "input"), "%s", out.get_last_error(&out));
	out.release(&out);
	in = feed_stream(&f, UTF8, 1);
	CHECK(urlmill_parse(p, &in, NULL) == EINVAL && !in.release, "there is nowhere to put the stream");
	CHECK(urlmill_parse(NULL, NULL, NULL) == EINVAL, "nothing was taken");
	in = feed_stream(&f, UTF8, 1);
	CHECK(urlmill_parse(p, &in, &in) == 0, "%s", in.get_last_error(&in)); /* into the place of the input */
	CHECK(in.get_next(&in, NULL) == EINVAL && in.get_schema(&in, NULL) == EINVAL, "nowhere to put it");
	CHECK(in.get_next(&in, &a) == 0 && a.length == 10, "%s", in.get_last_error(&in));
	a.release(&a);
	out = in; /* moved by hand, and used after its release */
	out.release(&out);
	CHECK(!out.release && out.get_next(&out, &a) == EINVAL && out.get_schema(&out, &schema) == EINVAL, "it is released");
	CHECK(strstr(out.get_last_error(&out), "released"), "%s", out.get_last_error(&out));
	urlmill_processor_free(p);
	urlmill_processor_free(freed);
	in = feed_stream(&f, UTF8, 1);
	CHECK(urlmill_parse(freed, &in, &out) == EINVAL && strstr(out.get_last_error(&out), "has been freed"), "%s", out.get_last_error(&out));
	out.release(&out);
	CHECK(urlmill_processor_new("{\"carry\": [\"id\", \"id\"]}", &p, &error) == EINVAL && strstr(error, "twice"), "%s", error);
	urlmill_free(error);
	CHECK(f.made == f.released, "%ld made, %ld released", f.made, f.released);
	feed_free(&f);
}

/* run pulls batches through a processor that other threads use as well. */
static void *run(void *arg) {
	struct feed f;
	feed_new(&f, 500, 0);
	for (int i = 0; i < 20; i++) {
		struct ArrowArrayStream in = feed_stream(&f, i % 4, 5), out;
		struct ArrowArray a;
		CHECK(urlmill_parse(arg, &in, &out) == 0, "%s", out.get_last_error(&out));
		for (;;) {
			CHECK(out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
			if (!a.release) break;
			values(&a, 0);
			a.release(&a);
		}
		out.release(&out);
	}
	CHECK(f.made == f.released, "%ld made, %ld released", f.made, f.released);
	feed_free(&f);
	return NULL;
}

static void *release(void *arg) {
	((struct ArrowArray *)arg)->release(arg);
	return NULL;
}

static void threads(void) {
	struct urlmill_processor *p = processor("{\"url\": \"page\", \"include\": [\"host\", \"path\", \"url_error\"]}");
	pthread_t t[8];
	for (int i = 0; i < 8; i++) CHECK(!pthread_create(&t[i], NULL, run, p), "no thread");
	for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
	struct feed f;
	feed_new(&f, 100, 0);
	struct ArrowArrayStream in = feed_stream(&f, UTF8, 1), out;
	struct ArrowArray a;
	CHECK(urlmill_parse(p, &in, &out) == 0 && out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
	pthread_create(&t[0], NULL, release, &a);
	pthread_join(t[0], NULL);
	out.release(&out);
	urlmill_processor_free(p);
	feed_free(&f);
}

/* An array that somebody holds while others come and go. */
struct held {
	struct ArrowArray a;
	struct feed f; /* that a is made of, freed behind it */
	int first;
};

/* hold returns what becomes of rows URLs from number first on, in an array whose stream is gone. */
static struct held *hold(struct urlmill_processor *p, int rows, int nulls, int first) {
	struct held *h = calloc(1, sizeof *h);
	struct ArrowArrayStream in, out;
	feed_from(&h->f, rows, nulls, first);
	h->first = first;
	in = feed_stream(&h->f, first % 4, 1);
	CHECK(urlmill_parse(p, &in, &out) == 0 && out.get_next(&out, &h->a) == 0, "%s", out.get_last_error(&out));
	out.release(&out);
	return h;
}

/* let_go checks that an array is what it was made, and releases it. */
static void let_go(struct held *h) {
	int nulls = h->f.valid != NULL;
	char want[100];
	for (int64_t i = 0; i < h->a.length; i++) {
		int no_url = i % 97 == 96, null = nulls && i % 50 == 0;
		sprintf(want, "/catalogue/item/%d.html", h->first + (int)i);
		is(text(h->a.children[1], i), no_url || null ? NULL : want);
		is(text(h->a.children[2], i), null ? "record-field-missing" : no_url ? "IPv4-out-of-range-part" : NULL);
	}
	h->a.release(&h->a);
	CHECK(h->f.made == h->f.released, "%ld made, %ld released", h->f.made, h->f.released);
	feed_free(&h->f);
	free(h);
}

enum { HOLDERS = 6, HELD = 5 };

/* places are shared by the threads: what one puts there another takes away and releases. */
static struct held *places[HOLDERS * HELD];
static struct urlmill_processor *shared_processor;

static void *hold_and_let_go(void *number) {
	int me = (int)(intptr_t)number;
	for (int i = 0; i < 120; i++) {
		struct held *h = hold(shared_processor, 1 + i * 37 % 4000, i % 3 == 0, me * 1000 + i), *was;
		was = __atomic_exchange_n(&places[(me + i * 7) % (HOLDERS * HELD)], h, __ATOMIC_ACQ_REL);
		if (was) let_go(was);
	}
	return NULL;
}

static void *let_go_of_place(void *place) {
	struct held *h = __atomic_exchange_n((struct held **)place, NULL, __ATOMIC_ACQ_REL);
	if (h) let_go(h);
	return NULL;
}

/* The memory of arrays is used again, but not before they are released, by whichever thread, with their streams and their processor
 * gone. Batches grow, so that it is other memory each time. */
static void reuse(void) {
	pthread_t t[HOLDERS * HELD];
	shared_processor = processor("{\"url\": \"page\", \"include\": [\"host\", \"path\", \"url_error\", \"url\"]}");
	for (int rows = 1; rows < 40000; rows = rows * 3 + 1) {
		struct held *first = hold(shared_processor, rows, 1, 1), *second = hold(shared_processor, rows * 2, 0, 5);
		let_go(first);
		first = hold(shared_processor, rows + rows / 2, 0, 9);
		let_go(second);
		let_go(first);
	}
	for (intptr_t i = 0; i < HOLDERS; i++) CHECK(!pthread_create(&t[i], NULL, hold_and_let_go, (void *)i), "no thread");
	for (int i = 0; i < HOLDERS; i++) pthread_join(t[i], NULL);
	urlmill_processor_free(shared_processor);
	for (int i = 0; i < HOLDERS * HELD; i++) CHECK(!pthread_create(&t[i], NULL, let_go_of_place, &places[i]), "no thread");
	for (int i = 0; i < HOLDERS * HELD; i++) pthread_join(t[i], NULL);
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
}

/* A stream of ours is the input of another, of the same processor: its arrays lie in one another. */
static void chained(void) {
	struct feed f;
	feed_new(&f, 1000, 0);
	struct urlmill_processor *p = processor("{\"include\": [\"url\"]}"), *q = processor("{\"url\": \"url\", \"include\": [\"host\", \"path\", \"url_error\", \"url\"], \"rename\": {\"url\": \"again\"}}");
	for (int i = 0; i < 3; i++) {
		struct ArrowArrayStream in = feed_stream(&f, UTF8, 2), between, out;
		struct ArrowArray a[2];
		CHECK(urlmill_parse(p, &in, &between) == 0, "%s", between.get_last_error(&between));
		CHECK(urlmill_parse(q, &between, &out) == 0, "%s", out.get_last_error(&out));
		for (int k = 0; k < 2; k++) CHECK(out.get_next(&out, &a[k]) == 0 && a[k].release, "%s", out.get_last_error(&out));
		out.release(&out);
		for (int k = 0; k < 2; k++) {
			is(text(a[k].children[0], 1), "www.shop1.co.uk");
			is(text(a[k].children[3], 1), "https://www.shop1.co.uk/catalogue/item/1.html?utm_source=mail&id=7&q=a+b#reviews");
			a[k].release(&a[k]);
		}
	}
	urlmill_processor_free(p);
	urlmill_processor_free(q);
	CHECK(f.made == f.released, "%ld made, %ld released", f.made, f.released);
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
	feed_free(&f);
}

static void *for_ever(void *p) {
	for (int i = 0;; i++) let_go(hold(p, 1 + i % 1000, 0, i % 5000));
	return NULL;
}

/* never_released ends the process with arrays that nobody has released, a stream that is open, and a thread that parses. */
static void never_released(void) {
	static struct feed f;
	static struct ArrowArrayStream in, out;
	static struct ArrowArray a;
	pthread_t t;
	struct urlmill_processor *p = processor("{\"url\": \"page\", \"include\": [\"host\", \"path\", \"url_error\"]}");
	feed_new(&f, 1000, 0);
	in = feed_stream(&f, RECORDS, 2);
	CHECK(urlmill_parse(p, &in, &out) == 0 && out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
	for (int i = 0; i < 10; i++) hold(p, 1000, 0, i);
	CHECK(!pthread_create(&t, NULL, for_ever, p), "no thread");
	for (int i = 0; i < 50; i++) let_go(hold(p, 1000, 0, i));
	values(&a, 0);
}

/* A child of fork is told that it cannot use the library, and never waits. */
static void forks(void) {
	struct feed f;
	feed_new(&f, 100, 0);
	struct urlmill_processor *p = processor(""), *q;
	struct ArrowArrayStream in = feed_stream(&f, UTF8, 2), out, other;
	struct ArrowArray a, b;
	CHECK(urlmill_parse(p, &in, &out) == 0 && out.get_next(&out, &a) == 0, "%s", out.get_last_error(&out));
	pid_t child = fork();
	if (child == 0) {
		char *error;
		alarm(60);
		CHECK(out.get_next(&out, &b) == ECHILD && strstr(out.get_last_error(&out), "load it after the fork"), "%s", out.get_last_error(&out));
		CHECK(urlmill_processor_new("", &q, &error) == ECHILD && strstr(error, "fork"), "%s", error);
		urlmill_free(error);
		in = feed_stream(&f, UTF8, 1);
		CHECK(urlmill_parse(p, &in, &other) == ECHILD && !in.release, "a child parses");
		other.release(&other);
		a.release(&a);
		out.release(&out);
		urlmill_processor_free(p);
		_exit(0);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
	a.release(&a);
	CHECK(out.get_next(&out, &a) == 0 && a.length == 100, "%s", out.get_last_error(&out));
	a.release(&a);
	out.release(&out);
	urlmill_processor_free(p);
	feed_free(&f);
}

/* leaks pulls batches through in ten rounds, and returns the bytes that the round of the least left allocated: a thread that
 * Go's runtime makes in a round takes some hundred bytes once, and a leak takes them in every round. */
static long leaks(int batches) {
	struct feed f;
	feed_new(&f, 1000, 1);
	struct urlmill_processor *p = processor("{\"url\": \"page\"}");
	long least = 1 << 30, before = allocated();
	for (int i = 0; i < batches; i++) {
		struct ArrowArrayStream in = feed_stream(&f, i % 4, 1), out;
		struct ArrowSchema schema;
		struct ArrowArray a;
		CHECK(urlmill_parse(p, &in, &out) == 0, "%s", out.get_last_error(&out));
		CHECK(out.get_schema(&out, &schema) == 0, "%s", out.get_last_error(&out));
		schema.release(&schema);
		CHECK(out.get_next(&out, &a) == 0 && a.length == 1000, "%s", out.get_last_error(&out));
		a.release(&a);
		if (i % 7 == 0) {
			f.fail_at = 0;
			CHECK(out.get_next(&out, &a) == 5 && out.get_last_error(&out), "no error");
		}
		out.release(&out);
		if ((i + 1) % (batches / 10) == 0) {
			long now = allocated();
			if (now - before < least) least = now - before;
			before = now;
		}
	}
	done(p, &f);
	return least > 0 ? least : 0; /* a round may free what an earlier one has left */
}

int main(int argc, char **argv) {
	if (argc > 1 && !strcmp(argv[1], "never-released")) {
		never_released();
		return 0;
	}
	int batches = argc > 1 ? atoi(argv[1]) : 10000;
	CHECK(urlmill_abi() == URLMILL_ABI, "%d", urlmill_abi());
	CHECK(strstr(urlmill_version(), "\"psl\"") && strstr(urlmill_version(), "\"unicode\""), "%s", urlmill_version());
	layouts(0);
	layouts(1);
	records();
	schemas();
	split();
	errors();
	misuse();
	threads();
	reuse();
	chained();
	forks();
	long leaked = leaks(batches);
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
	printf("%d batches, %ld bytes leaked, %ld objects alive\n", batches, leaked, (long)urlmill_alive());
	CHECK(leaked == 0, "%ld bytes", leaked); /* under the sanitizer, which tells by itself, it is always 0 */
	return 0;
}
