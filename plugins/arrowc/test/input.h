/* Streams of URLs for the programs beside this file. */
#ifndef INPUT_H
#define INPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../urlmill.h"

#define CHECK(ok, ...)                                           \
	do {                                                         \
		if (!(ok)) {                                             \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #ok); \
			fprintf(stderr, __VA_ARGS__);                        \
			fprintf(stderr, "\n");                               \
			exit(1);                                             \
		}                                                        \
	} while (0)

enum layout { UTF8, LARGE, DICTIONARY, RECORDS };

struct feed {
	enum layout layout;
	int batches, rows;
	int fail_at; /* batch that fails, -1 for none */
	long made, released;
	char *data; /* of a batch, shared by all */
	int32_t *offsets;
	int64_t *large, *ids;
	uint8_t *valid;
};

static void feed_array_release(struct ArrowArray *a) {
	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i]->release) a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	free(a->children);
	if (a->dictionary) {
		if (a->dictionary->release) a->dictionary->release(a->dictionary);
		free(a->dictionary);
	}
	free((void *)a->buffers);
	((struct feed *)a->private_data)->released++;
	a->release = NULL;
}

static void feed_array(struct feed *f, struct ArrowArray *a, int64_t rows, int buffers, int children) {
	memset(a, 0, sizeof *a);
	a->length = rows;
	a->n_buffers = buffers;
	a->buffers = calloc(buffers ? buffers : 1, sizeof(void *));
	a->n_children = children;
	a->children = children ? calloc(children, sizeof(void *)) : NULL;
	for (int i = 0; i < children; i++) a->children[i] = calloc(1, sizeof(struct ArrowArray));
	a->private_data = f;
	a->release = feed_array_release;
	f->made++;
}

static void feed_text(struct feed *f, struct ArrowArray *a, int large) {
	feed_array(f, a, f->rows, 3, 0);
	a->buffers[0] = f->valid;
	a->null_count = f->valid ? -1 : 0;
	a->buffers[1] = large ? (void *)f->large : (void *)f->offsets;
	a->buffers[2] = f->data;
}

static int feed_next(struct ArrowArrayStream *s, struct ArrowArray *a) {
	struct feed *f = s->private_data;
	memset(a, 0, sizeof *a);
	if (f->fail_at == 0) return 5;
	if (f->fail_at > 0) f->fail_at--;
	if (f->batches-- <= 0) return 0;
	switch (f->layout) {
	case UTF8:
	case LARGE:
		feed_text(f, a, f->layout == LARGE);
		break;
	case DICTIONARY:
		feed_array(f, a, f->rows, 2, 0);
		a->buffers[1] = f->ids; /* int64 */
		a->dictionary = calloc(1, sizeof *a);
		feed_text(f, a->dictionary, 0);
		break;
	case RECORDS:
		feed_array(f, a, f->rows, 1, 2);
		feed_array(f, a->children[0], f->rows, 2, 0);
		a->children[0]->buffers[1] = f->ids;
		feed_text(f, a->children[1], 0);
		break;
	}
	return 0;
}

static void feed_schema_release(struct ArrowSchema *s) {
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i]->release) s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	free(s->children);
	if (s->dictionary) {
		if (s->dictionary->release) s->dictionary->release(s->dictionary);
		free(s->dictionary);
	}
	s->release = NULL;
}

static void feed_format(struct ArrowSchema *s, const char *format, const char *name) {
	memset(s, 0, sizeof *s);
	s->format = format;
	s->name = name;
	s->flags = ARROW_FLAG_NULLABLE;
	s->release = feed_schema_release;
}

static int feed_schema(struct ArrowArrayStream *stream, struct ArrowSchema *s) {
	switch (((struct feed *)stream->private_data)->layout) {
	case UTF8:
		feed_format(s, "u", "");
		break;
	case LARGE:
		feed_format(s, "U", "");
		break;
	case DICTIONARY:
		feed_format(s, "l", "");
		s->dictionary = calloc(1, sizeof *s);
		feed_format(s->dictionary, "u", "");
		break;
	case RECORDS:
		feed_format(s, "+s", "");
		s->n_children = 2;
		s->children = calloc(2, sizeof(void *));
		for (int i = 0; i < 2; i++) {
			s->children[i] = calloc(1, sizeof *s);
			feed_format(s->children[i], i ? "u" : "l", i ? "page" : "id");
		}
		break;
	}
	return 0;
}

static const char *feed_error(struct ArrowArrayStream *s) {
	return ((struct feed *)s->private_data)->fail_at == 0 ? "the disk is on fire" : NULL;
}

static void feed_release(struct ArrowArrayStream *s) { s->release = NULL; }

/* feed_from fills a batch of rows with URLs of a clickstream, every 97th of which is none, and every 50th null. They are those
 * from number first on. */
static void feed_from(struct feed *f, int rows, int nulls, int first) {
	memset(f, 0, sizeof *f);
	f->rows = rows;
	f->data = malloc((size_t)rows * 160 + 1);
	f->offsets = malloc(sizeof(int32_t) * (rows + 1));
	f->large = malloc(sizeof(int64_t) * (rows + 1));
	f->ids = malloc(sizeof(int64_t) * (rows + 1));
	f->valid = nulls ? calloc(1, rows / 8 + 1) : NULL;
	int32_t n = 0;
	f->offsets[0] = 0;
	for (int i = 0; i < rows; i++) {
		int k = first + i;
		if (nulls && i % 50) f->valid[i / 8] |= 1 << (i % 8);
		if (i % 97 == 96)
			n += sprintf(f->data + n, "http://1.2.3.%d/", 300 + k);
		else if (!nulls || i % 50)
			n += sprintf(f->data + n, "https://www.shop%d.co.uk/catalogue/item/%d.html?utm_source=mail&id=%d&q=a+b#reviews", k % 5000, k, k * 7);
		f->offsets[i + 1] = n;
		f->ids[i] = i;
	}
	for (int i = 0; i <= rows; i++) f->large[i] = f->offsets[i];
}

static void feed_new(struct feed *f, int rows, int nulls) { feed_from(f, rows, nulls, 0); }

static void feed_free(struct feed *f) {
	free(f->data);
	free(f->offsets);
	free(f->large);
	free(f->ids);
	free(f->valid);
}

static struct ArrowArrayStream feed_stream(struct feed *f, enum layout layout, int batches) {
	f->layout = layout;
	f->batches = batches;
	f->fail_at = -1;
	return (struct ArrowArrayStream){feed_schema, feed_next, feed_error, feed_release, f};
}

static struct urlmill_processor *processor(const char *options) {
	struct urlmill_processor *p;
	char *error;
	CHECK(urlmill_processor_new(options, &p, &error) == 0, "%s", error);
	return p;
}

#endif
