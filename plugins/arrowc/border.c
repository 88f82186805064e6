// The C side of the library: release callbacks, which have to work without Go where they can, and calls through pointers.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "border.h"

// In Go.
extern int urlmillProcessorNew(char *options, uintptr_t *handle, char **error);
extern void urlmillProcessorFree(uintptr_t handle);
extern int urlmillOpen(uintptr_t processor, struct urlmill_stream *s);
extern int urlmillSchema(struct urlmill_stream *s, struct ArrowSchema *out);
extern int urlmillNext(struct urlmill_stream *s, struct ArrowArray *out);
extern void urlmillClose(uintptr_t handle);
extern void urlmillReleased(uintptr_t handle);
extern char *urlmillVersion(void);
extern int64_t urlmillAlive(void);

// Go's threads do not survive a fork, and what calls Go in the child may wait for them for ever. So nothing calls it there.

static int forked;

static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

static const char fork_text[] = "urlmill: the process was forked after the library was loaded, and cannot use it; load it after the fork";

// Arrays.

static const uint64_t zeros[8];

const void *urlmill_zeros(void) { return zeros; }

struct urlmill_block *urlmill_block_new(size_t nodes, size_t pointers) {
	size_t size = sizeof(struct urlmill_block) + nodes * sizeof(struct ArrowArray) + pointers * sizeof(void *);
	struct urlmill_block *b = calloc(1, size);
	if (!b) return NULL;
	b->refs = (int)nodes + 1;
	b->nodes = (struct ArrowArray *)(b + 1);
	b->pointers = (const void **)(b->nodes + nodes);
	return b;
}

static void release_node(struct ArrowArray *a) {
	struct urlmill_block *b = a->private_data;
	for (int64_t i = 0; i < a->n_children; i++) {
		struct ArrowArray *child = a->children[i];
		if (child->release) child->release(child); // else it was moved, and is another's to release
	}
	if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
	a->release = NULL;
	if (__atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) == 0) {
		uintptr_t handle = b->handle;
		free(b);
		if (!forked) urlmillReleased(handle); // else it is the parent's memory
	}
}

void urlmill_own(struct urlmill_block *block, struct ArrowArray *node) {
	node->private_data = block;
	node->release = release_node;
}

// Schemas.

static void release_struct(struct ArrowSchema *s) {
	for (int64_t i = 0; i < s->n_children; i++)
		if (s->children[i]->release) s->children[i]->release(s->children[i]);
	free(s->private_data);
	s->release = NULL;
}

int urlmill_struct(struct ArrowSchema *out, size_t n) {
	memset(out, 0, sizeof *out);
	char *memory = calloc(n ? n : 1, sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *));
	if (!memory) return ENOMEM;
	struct ArrowSchema *nodes = (struct ArrowSchema *)memory;
	out->children = (struct ArrowSchema **)(nodes + n);
	for (size_t i = 0; i < n; i++) out->children[i] = &nodes[i];
	out->format = "+s";
	out->name = "";
	out->n_children = (int64_t)n;
	out->private_data = memory;
	out->release = release_struct;
	return 0;
}

// Streams.

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
	struct urlmill_stream *p = s->private_data;
	memset(out, 0, sizeof *out);
	if (forked) return ECHILD;
	return p->handle ? urlmillSchema(p, out) : p->code;
}

static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
	struct urlmill_stream *p = s->private_data;
	memset(out, 0, sizeof *out);
	if (forked) return ECHILD;
	return p->handle ? urlmillNext(p, out) : p->code;
}

static const char *stream_error(struct ArrowArrayStream *s) {
	return forked ? fork_text : ((struct urlmill_stream *)s->private_data)->error;
}

static void stream_release(struct ArrowArrayStream *s) {
	struct urlmill_stream *p = s->private_data;
	if (p->handle && !forked) urlmillClose(p->handle);
	if (p->in.release) p->in.release(&p->in);
	free(p->error);
	free(p);
	s->release = NULL;
}

// A stream for which there was no memory. It owns nothing.

static int no_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) { (void)s, (void)out; return ENOMEM; }
static int no_next(struct ArrowArrayStream *s, struct ArrowArray *out) { (void)s, (void)out; return ENOMEM; }
static const char *no_memory(struct ArrowArrayStream *s) { (void)s; return "urlmill: out of memory"; }
static void no_release(struct ArrowArrayStream *s) { s->release = NULL; }

int urlmill_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) { return s->get_schema(s, out); }
int urlmill_get_next(struct ArrowArrayStream *s, struct ArrowArray *out) { return s->get_next(s, out); }
const char *urlmill_get_last_error(struct ArrowArrayStream *s) { return s->get_last_error(s); }
void urlmill_release_schema(struct ArrowSchema *s) { if (s->release) s->release(s); }
void urlmill_release_array(struct ArrowArray *a) { if (a->release) a->release(a); }

// The interface.

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int32_t urlmill_abi(void) { return URLMILL_ABI; }

PUBLIC const char *urlmill_version(void) { return forked ? "{}" : urlmillVersion(); }

PUBLIC int64_t urlmill_alive(void) { return forked ? 0 : urlmillAlive(); }

PUBLIC void urlmill_free(char *error) { free(error); }

PUBLIC int urlmill_processor_new(const char *options, struct urlmill_processor **out, char **error) {
	uintptr_t handle = 0;
	char *text = NULL;
	int code = ECHILD;
	if (forked) text = strdup(fork_text);
	else code = urlmillProcessorNew((char *)options, &handle, &text);
	*out = (struct urlmill_processor *)handle;
	if (error) *error = text;
	else free(text);
	return code;
}

PUBLIC void urlmill_processor_free(struct urlmill_processor *processor) {
	if (processor && !forked) urlmillProcessorFree((uintptr_t)processor);
}

PUBLIC int urlmill_parse(struct urlmill_processor *processor, struct ArrowArrayStream *in, struct ArrowArrayStream *out) {
	struct urlmill_stream *p = calloc(1, sizeof *p);
	memset(out, 0, sizeof *out);
	if (!p) {
		if (in->release) in->release(in);
		*out = (struct ArrowArrayStream){no_schema, no_next, no_memory, no_release, NULL};
		return ENOMEM;
	}
	p->in = *in;
	in->release = NULL;
	*out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, p};
	p->code = forked ? ECHILD : urlmillOpen((uintptr_t)processor, p);
	return p->code;
}
