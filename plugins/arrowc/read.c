//go:build read

// The stream of urlmill_read.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "border.h"
#include "read.h"

extern int urlmillReadOpen(char *options, uintptr_t *handle, char **error);
extern int urlmillReadSchema(uintptr_t handle, struct ArrowSchema *out, char **error);
extern int urlmillReadNext(uintptr_t handle, struct ArrowArray *out, char **error);
extern void urlmillReadClose(uintptr_t handle);

struct rows {
	uintptr_t handle;
	char *error;
};

static int rows_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
	struct rows *r = s->private_data;
	free(r->error);
	r->error = NULL;
	memset(out, 0, sizeof *out);
	return urlmillReadSchema(r->handle, out, &r->error);
}

static int rows_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
	struct rows *r = s->private_data;
	free(r->error);
	r->error = NULL;
	memset(out, 0, sizeof *out);
	return urlmillReadNext(r->handle, out, &r->error);
}

static const char *rows_error(struct ArrowArrayStream *s) { return ((struct rows *)s->private_data)->error; }

static void rows_release(struct ArrowArrayStream *s) {
	struct rows *r = s->private_data;
	s->release = NULL;
	urlmillReadClose(r->handle);
	free(r->error);
	free(r);
}

__attribute__((visibility("default"))) int urlmill_read(const char *options, struct ArrowArrayStream *out, char **error) {
	struct rows *r = calloc(1, sizeof *r);
	memset(out, 0, sizeof *out);
	*error = NULL;
	if (!r) return ENOMEM;
	int code = urlmillReadOpen((char *)options, &r->handle, error);
	if (code) free(r);
	else *out = (struct ArrowArrayStream){rows_schema, rows_next, rows_error, rows_release, r};
	return code;
}
