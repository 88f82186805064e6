/* What the programs beside this file check with. */
#ifndef CHECK_H
#define CHECK_H

#include <malloc.h>

#include "input.h"

/* text returns row i of a utf8 array, NULL for null. */
static const char *text(struct ArrowArray *a, int64_t i) {
	static __thread char value[1000];
	i += a->offset;
	const uint8_t *valid = a->buffers[0];
	const int32_t *offsets = a->buffers[1];
	if (valid && !(valid[i / 8] >> (i % 8) & 1)) return NULL;
	snprintf(value, sizeof value, "%.*s", offsets[i + 1] - offsets[i], (const char *)a->buffers[2] + offsets[i]);
	return value;
}

static void is(const char *got, const char *want) {
	CHECK(got && want ? !strcmp(got, want) : got == want, "%s, want %s", got ? got : "null", want ? want : "null");
}

/* values checks rows of host, path and url_error, which are columns 0 to 2. */
static void values(struct ArrowArray *a, int nulls) {
	is(text(a->children[0], 1), "www.shop1.co.uk");
	is(text(a->children[1], 1), "/catalogue/item/1.html");
	is(text(a->children[2], 1), NULL);
	is(text(a->children[0], 96), NULL);
	is(text(a->children[2], 96), "IPv4-out-of-range-part");
	is(text(a->children[2], 50), nulls ? "record-field-missing" : NULL);
}

/* done frees a processor and what it was fed with, of which nothing may be left. */
static void done(struct urlmill_processor *p, struct feed *f) {
	urlmill_processor_free(p);
	CHECK(f->made == f->released, "%ld arrays of the input were made, %ld released", f->made, f->released);
	feed_free(f);
}

static long allocated(void) {
	struct mallinfo2 m = mallinfo2();
	return (long)(m.uordblks + m.hblkhd);
}

#endif
