/* Arrays that are parsed one by one, without a stream: they are what those of streams are, whatever their layout and size; errors of
 * every kind; nothing is left over.
 *
 *   array [BATCHES] */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char options[] = "{\"url\": \"page\", \"include\": [\"host\", \"path\", \"url_error\"]}";

/* given makes the schema and an array of a layout. */
static void given(struct feed *f, enum layout layout, struct ArrowSchema *schema, struct ArrowArray *in) {
	struct ArrowArrayStream s = feed_stream(f, layout, 1);
	s.get_schema(&s, schema);
	s.get_next(&s, in);
}

/* One schema serves for all arrays of a layout, and all of these lie side by side. */
static void layouts(int nulls) {
	struct feed f;
	struct urlmill_processor *p = processor(options);
	feed_new(&f, 1000, nulls);
	for (enum layout layout = UTF8; layout <= RECORDS; layout++) {
		struct ArrowSchema schema, of;
		struct ArrowArray in, out[3];
		char *error;
		given(&f, layout, &schema, &in);
		for (int i = 0; i < 3; i++) {
			if (i) {
				struct ArrowArrayStream s = feed_stream(&f, layout, 1);
				s.get_next(&s, &in);
			}
			CHECK(urlmill_parse_array(p, &schema, &in, &out[i], &error) == 0, "%s", error);
			CHECK(!error && !in.release && out[i].length == 1000, "%d rows", (int)out[i].length);
		}
		CHECK(urlmill_array_schema(p, &schema, &of, &error) == 0, "%s", error);
		CHECK(of.n_children == out[0].n_children && of.n_children == (layout == RECORDS ? 4 : 3), "%d children", (int)of.n_children);
		is(of.children[0]->name, "host");
		if (layout == RECORDS) {
			is(of.children[3]->name, "id");
			CHECK(((const int64_t *)out[1].children[3]->buffers[1])[96] == 96, "the ids are not the input's");
		}
		CHECK(schema.release && (layout != RECORDS || schema.children[0]->release), "the schema was taken");
		schema.release(&schema);
		is(of.children[layout == RECORDS ? 3 : 0]->format, layout == RECORDS ? "l" : "u"); /* what was copied stays */
		of.release(&of);
		for (int i = 0; i < 3; i++) values(&out[i], nulls);
		for (int i = 0; i < 3; i++) out[i].release(&out[i]);
	}
	done(p, &f);
}

/* Any number of rows, and any window of them, gives what it is a part of. */
static void sizes(void) {
	struct feed f;
	struct urlmill_processor *p = processor("{\"include\": [\"host\", \"path\", \"url_error\"], \"batch_rows\": 2}"); /* not looked at */
	feed_new(&f, 1000, 1);
	for (int rows = 0; rows < 70; rows++) {
		for (int first = 0; first < 1000; first += 331) {
			struct ArrowSchema schema;
			struct ArrowArray in, out;
			char *error, want[100];
			int n = rows < 1000 - first ? rows : 1000 - first;
			given(&f, rows % 2 ? UTF8 : LARGE, &schema, &in);
			in.offset = first;
			in.length = n;
			CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == 0, "%s", error);
			CHECK(out.length == n, "%d rows, want %d", (int)out.length, n);
			for (int i = 0; i < n; i++) {
				int k = first + i;
				sprintf(want, "/catalogue/item/%d.html", k);
				is(text(out.children[1], i), k % 97 == 96 || k % 50 == 0 ? NULL : want);
			}
			out.release(&out);
			schema.release(&schema);
		}
	}
	done(p, &f);
}

static void errors(void) {
	struct feed f;
	struct ArrowSchema schema, of;
	struct ArrowArray in, out;
	char *error;
	struct urlmill_processor *p = processor("{\"url\": \"id\"}"), *freed;
	feed_new(&f, 10, 0);
	given(&f, RECORDS, &schema, &in);
	CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == EINVAL && !out.release && !in.release, "a number is a URL");
	CHECK(strstr(error, "column \"id\" is of type int64"), "%s", error);
	urlmill_free(error);
	CHECK(urlmill_array_schema(p, &schema, &of, &error) == EINVAL && !of.release && strstr(error, "int64"), "%s", error);
	urlmill_free(error);
	schema.release(&schema);

	given(&f, UTF8, &schema, &in);
	CHECK(urlmill_parse_array(p, &schema, &in, &in, NULL) == 0 && in.length == 10, "into the place of the input"); /* and without errors */
	in.release(&in);
	CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == EINVAL && strstr(error, "no array"), "%s", error);
	urlmill_free(error);
	CHECK(urlmill_parse_array(p, NULL, NULL, NULL, NULL) == EINVAL && urlmill_array_schema(p, NULL, NULL, NULL) == EINVAL, "nothing");
	struct ArrowSchema released;
	memset(&released, 0, sizeof released);
	given(&f, UTF8, &schema, &in);
	CHECK(urlmill_parse_array(p, &released, &in, &out, NULL) == EINVAL && !in.release, "a schema that has been released");
	given(&f, UTF8, &schema, &in);
	CHECK(urlmill_parse_array(p, &schema, &in, NULL, NULL) == EINVAL && !in.release, "there is nowhere to put the array");
	given(&f, UTF8, &schema, &in);
	in.buffers[1] = NULL;
	CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == EINVAL && strstr(error, "buffer 1 is missing"), "%s", error);
	urlmill_free(error);

	given(&f, UTF8, &schema, &in);
	int32_t large[] = {0, 600 << 20};
	in.length = 1;
	in.buffers[1] = large; /* the bytes are not there, and not looked at */
	CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == E2BIG && !out.release && strstr(error, "512 MiB"), "%s", error);
	urlmill_free(error);

	urlmill_processor_free(p);
	freed = p;
	given(&f, UTF8, &schema, &in);
	CHECK(urlmill_parse_array(freed, &schema, &in, &out, &error) == EINVAL && strstr(error, "has been freed"), "%s", error);
	urlmill_free(error);
	given(&f, UTF8, &schema, &in);
	CHECK(urlmill_parse_array(NULL, &schema, &in, &out, NULL) == EINVAL && !in.release, "no processor was taken");
	CHECK(f.made == f.released, "%ld made, %ld released", f.made, f.released);
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
	feed_free(&f);
}

static void *run(void *p) {
	struct feed f;
	feed_new(&f, 500, 0);
	for (int i = 0; i < 200; i++) {
		struct ArrowSchema schema;
		struct ArrowArray in, out;
		char *error;
		given(&f, i % 4, &schema, &in);
		CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == 0, "%s", error);
		schema.release(&schema);
		values(&out, 0);
		out.release(&out);
	}
	CHECK(f.made == f.released, "%ld made, %ld released", f.made, f.released);
	feed_free(&f);
	return NULL;
}

static void threads(void) {
	struct urlmill_processor *p = processor(options);
	pthread_t t[8];
	for (int i = 0; i < 8; i++) CHECK(!pthread_create(&t[i], NULL, run, p), "no thread");
	for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
	urlmill_processor_free(p);
}

static void forks(void) {
	struct feed f;
	struct ArrowSchema schema, of;
	struct ArrowArray in, out;
	struct urlmill_processor *p = processor(options);
	feed_new(&f, 10, 0);
	given(&f, UTF8, &schema, &in);
	pid_t child = fork();
	if (child == 0) {
		char *error;
		alarm(60);
		CHECK(urlmill_parse_array(p, &schema, &in, &out, &error) == ECHILD && !in.release && strstr(error, "after the fork"), "%s", error);
		urlmill_free(error);
		CHECK(urlmill_array_schema(p, &schema, &of, NULL) == ECHILD, "a child asks for a schema");
		_exit(0);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %d", status);
	in.release(&in);
	schema.release(&schema);
	urlmill_processor_free(p);
	feed_free(&f);
}

/* leaks parses arrays in ten rounds, and returns the bytes that the round of the least left allocated, as border.c does. */
static long leaks(int batches) {
	struct feed f;
	struct urlmill_processor *p = processor(options);
	long least = 1 << 30, before = allocated();
	feed_new(&f, 100, 1);
	for (int i = 0; i < batches; i++) {
		struct ArrowSchema schema, of;
		struct ArrowArray in, out;
		char *error;
		given(&f, i % 4, &schema, &in);
		if (i % 7 == 0) in.n_buffers = 0; /* an error, but of a record batch */
		int failed = urlmill_parse_array(p, &schema, &in, &out, &error);
		CHECK(!failed == (i % 7 || i % 4 == RECORDS), "%s", error);
		if (failed) urlmill_free(error);
		else out.release(&out);
		CHECK(urlmill_array_schema(p, &schema, &of, NULL) == 0, "no schema");
		of.release(&of);
		schema.release(&schema);
		if ((i + 1) % (batches / 10) == 0) {
			long now = allocated();
			if (now - before < least) least = now - before;
			before = now;
		}
	}
	done(p, &f);
	return least > 0 ? least : 0;
}

int main(int argc, char **argv) {
	int batches = argc > 1 ? atoi(argv[1]) : 10000;
	layouts(0);
	layouts(1);
	sizes();
	errors();
	threads();
	forks();
	long leaked = leaks(batches);
	CHECK(urlmill_alive() == 0, "%ld are alive", (long)urlmill_alive());
	printf("%d arrays, %ld bytes leaked, %ld objects alive\n", batches, leaked, (long)urlmill_alive());
	CHECK(leaked == 0, "%ld bytes", leaked);
	return 0;
}
