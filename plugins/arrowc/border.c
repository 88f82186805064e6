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
extern int urlmillParseArray(uintptr_t processor, struct ArrowSchema *schema, struct ArrowArray *in, struct ArrowArray *out, char **error);
extern int urlmillArraySchema(uintptr_t processor, struct ArrowSchema *schema, struct ArrowSchema *out, char **error);
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

static int64_t alone; // atomic: blocks that nothing of Go belongs to

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
		if (!handle) __atomic_sub_fetch(&alone, 1, __ATOMIC_RELAXED);
		else if (!forked) urlmillReleased(handle); // else it is the parent's memory
	}
}

struct urlmill_block *urlmill_block_new(size_t nodes, size_t pointers, size_t bytes, uintptr_t handle, struct ArrowArray *root) {
	enum { alignment = 64 };
	size_t size = sizeof(struct urlmill_block) + nodes * sizeof(struct ArrowArray) + pointers * sizeof(void *);
	struct urlmill_block *b = malloc(size + (bytes ? bytes + alignment : 0));
	if (!b) return NULL;
	memset(b, 0, size);
	if (bytes) b->copies = (char *)b + (((uintptr_t)b + size + alignment - 1) / alignment * alignment - (uintptr_t)b);
	b->handle = handle;
	if (!handle) __atomic_add_fetch(&alone, 1, __ATOMIC_RELAXED);
	b->refs = (int)nodes + 1;
	b->nodes = (struct ArrowArray *)(b + 1);
	b->pointers = (const void **)(b->nodes + nodes);
	root->private_data = b;
	root->release = release_node;
	for (size_t i = 0; i < nodes; i++) {
		b->nodes[i].private_data = b;
		b->nodes[i].release = release_node;
	}
	return b;
}

// Schemas.

// A block of a schema is one allocation: the head, the nodes, the root's first, the pointers to the children of the nodes below it,
// the text, and the pointers to the root's children last, as more may follow. All pointers lead into the block.
struct urlmill_schema {
	int refs; // atomic: nodes that have not been released, with the root
	int nodes;
	size_t size;
	struct ArrowSchema node[];
};

static size_t metadata_size(const char *metadata) {
	if (!metadata) return 0;
	int32_t pairs, length;
	size_t at = sizeof pairs;
	memcpy(&pairs, metadata, sizeof pairs);
	for (int64_t i = 0; i < 2 * (int64_t)pairs; i++) { // keys and values
		memcpy(&length, metadata + at, sizeof length);
		at += sizeof length + (size_t)length;
	}
	return at;
}

// sizes is what the nodes of a schema need.
struct sizes {
	size_t nodes, pointers, text;
};

static void measure(const struct ArrowSchema *s, struct sizes *n) {
	n->nodes++;
	n->pointers += (size_t)s->n_children;
	n->text += strlen(s->format) + 1 + (s->name ? strlen(s->name) + 1 : 0) + metadata_size(s->metadata);
	for (int64_t i = 0; i < s->n_children; i++) measure(s->children[i], n);
	if (s->dictionary) measure(s->dictionary, n);
}

// room is what is left of a block that is being filled.
struct room {
	struct ArrowSchema *node, **pointers;
	char *text;
};

static const char *keep(struct room *r, const char *text, size_t size) {
	if (!text) return NULL;
	char *to = memcpy(r->text, text, size);
	r->text += size;
	return to;
}

static void fill(struct room *r, struct ArrowSchema *to, const struct ArrowSchema *from, struct ArrowSchema **children) {
	*to = *from;
	to->format = keep(r, from->format, strlen(from->format) + 1);
	to->name = keep(r, from->name, from->name ? strlen(from->name) + 1 : 0);
	to->metadata = keep(r, from->metadata, metadata_size(from->metadata));
	to->children = from->n_children ? children : NULL;
	for (int64_t i = 0; i < from->n_children; i++) children[i] = r->node++;
	if (from->dictionary) to->dictionary = r->node++;
	for (int64_t i = 0; i <= from->n_children; i++) {
		const struct ArrowSchema *below = i < from->n_children ? from->children[i] : from->dictionary;
		struct ArrowSchema **pointers = r->pointers;
		if (!below) continue;
		r->pointers += below->n_children;
		fill(r, i < from->n_children ? children[i] : to->dictionary, below, pointers);
	}
}

struct urlmill_schema *urlmill_schema_model(const struct ArrowSchema *of) {
	struct sizes n = {0, 0, 0};
	measure(of, &n);
	n.text = (n.text + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
	size_t size = sizeof(struct urlmill_schema) + n.nodes * sizeof *of + n.pointers * sizeof(void *) + n.text;
	struct urlmill_schema *m = calloc(1, size);
	if (!m) return NULL;
	m->nodes = (int)n.nodes;
	m->size = size;
	struct room r = {m->node + 1, (struct ArrowSchema **)(m->node + n.nodes), NULL};
	r.text = (char *)(r.pointers + (n.pointers - (size_t)of->n_children));
	fill(&r, m->node, of, (struct ArrowSchema **)(r.text + n.text));
	return m;
}

static void release_schema(struct ArrowSchema *s) {
	struct urlmill_schema *b = s->private_data;
	for (int64_t i = 0; i < s->n_children; i++) {
		struct ArrowSchema *child = s->children[i];
		if (child->release) child->release(child); // else it was moved, and is another's to release
	}
	if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
	s->release = NULL;
	if (__atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) == 0) free(b);
}

int urlmill_schema_new(const struct urlmill_schema *model, size_t more, struct ArrowSchema *out) {
	memset(out, 0, sizeof *out);
	struct urlmill_schema *b = malloc(model->size + more * (sizeof(struct ArrowSchema *) + sizeof *out));
	if (!b) return ENOMEM;
	memcpy(b, model, model->size);
	b->refs = b->nodes;
// moved is where what p points at in the model lies in b.
#define moved(p) ((p) ? (void *)((char *)b + ((const char *)(p) - (const char *)model)) : NULL)
	for (int i = 0; i < b->nodes; i++) {
		struct ArrowSchema *n = &b->node[i];
		n->format = moved(n->format);
		n->name = moved(n->name);
		n->metadata = moved(n->metadata);
		n->dictionary = moved(n->dictionary);
		n->children = moved(n->children);
		for (int64_t k = 0; k < n->n_children; k++) n->children[k] = moved(n->children[k]);
		n->release = release_schema;
		n->private_data = b;
	}
#undef moved
	*out = b->node[0];
	struct ArrowSchema **pointers = (struct ArrowSchema **)((char *)b + model->size), *nodes = (struct ArrowSchema *)(pointers + more);
	if (more && !out->children) out->children = pointers;
	for (size_t i = 0; i < more; i++) {
		pointers[i] = &nodes[i];
		nodes[i].release = NULL;
	}
	out->n_children += (int64_t)more;
	return 0;
}

int urlmill_schema_copy(const struct ArrowSchema *of, struct ArrowSchema *out) {
	struct urlmill_schema *m = urlmill_schema_model(of);
	int code = m ? urlmill_schema_new(m, 0, out) : ENOMEM;
	free(m);
	return code;
}

// Streams. One that has been released has no private data.

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
	struct urlmill_stream *p = s->private_data;
	if (out) memset(out, 0, sizeof *out);
	if (!p || !out) return EINVAL;
	if (forked) return ECHILD;
	return p->handle ? urlmillSchema(p, out) : p->code;
}

static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
	struct urlmill_stream *p = s->private_data;
	if (out) memset(out, 0, sizeof *out);
	if (!p || !out) return EINVAL;
	if (forked) return ECHILD;
	return p->handle ? urlmillNext(p, out) : p->code;
}

static const char *stream_error(struct ArrowArrayStream *s) {
	struct urlmill_stream *p = s->private_data;
	if (!p) return "urlmill: the stream has been released";
	return forked ? fork_text : p->error;
}

static void stream_release(struct ArrowArrayStream *s) {
	struct urlmill_stream *p = s->private_data;
	s->private_data = NULL;
	s->release = NULL;
	if (!p) return;
	if (p->handle && !forked) urlmillClose(p->handle);
	if (p->in.release) p->in.release(&p->in);
	free(p->error);
	free(p);
}

// A stream for which there was no memory. It owns nothing.

static int no_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) { (void)s, (void)out; return ENOMEM; }
static int no_next(struct ArrowArrayStream *s, struct ArrowArray *out) { (void)s, (void)out; return ENOMEM; }
static const char *no_memory(struct ArrowArrayStream *s) { (void)s; return "urlmill: out of memory"; }
static void no_release(struct ArrowArrayStream *s) { s->release = NULL; }

struct urlmill_asked urlmill_ask_schema(struct ArrowArrayStream *s) {
	struct urlmill_asked r = {calloc(1, sizeof *r.schema), ENOMEM, 1};
	if (!r.schema) return r;
	r.lacking = 0;
	r.code = s->get_schema(s, r.schema);
	if (r.code) { // the interface leaves the schema undefined
		free(r.schema);
		r.schema = NULL;
	}
	return r;
}

struct urlmill_pulled urlmill_pull(struct ArrowArrayStream *s) {
	struct urlmill_pulled r = {calloc(1, sizeof *r.array), ENOMEM, 1};
	if (!r.array) return r;
	r.lacking = 0;
	r.code = s->get_next(s, r.array);
	if (r.code || !r.array->release) {
		free(r.array);
		r.array = NULL;
	}
	return r;
}

const char *urlmill_get_last_error(struct ArrowArrayStream *s) { return s->get_last_error(s); }
void urlmill_release_schema(struct ArrowSchema *s) { if (s->release) s->release(s); }

void urlmill_free_schema(struct ArrowSchema *s) {
	if (s->release) s->release(s);
	free(s);
}

void urlmill_free_array(struct ArrowArray *a) {
	if (a && a->release) a->release(a);
	free(a);
}

// The interface.

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int32_t urlmill_abi(void) { return URLMILL_ABI; }

PUBLIC const char *urlmill_version(void) { return forked ? "{}" : urlmillVersion(); }

PUBLIC int64_t urlmill_alive(void) { return forked ? 0 : urlmillAlive() + __atomic_load_n(&alone, __ATOMIC_RELAXED); }

PUBLIC void urlmill_free(char *error) { free(error); }

PUBLIC int urlmill_processor_new(const char *options, struct urlmill_processor **out, char **error) {
	uintptr_t handle = 0;
	char *text = NULL;
	int code = ECHILD;
	if (error) *error = NULL;
	if (!out) return EINVAL;
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
	struct ArrowArrayStream given = {NULL, NULL, NULL, NULL, NULL};
	if (in) { // may be out as well
		given = *in;
		in->release = NULL;
	}
	struct urlmill_stream *p = out ? calloc(1, sizeof *p) : NULL;
	if (!p) {
		if (given.release) given.release(&given);
		if (!out) return EINVAL;
		*out = (struct ArrowArrayStream){no_schema, no_next, no_memory, no_release, NULL};
		return ENOMEM;
	}
	p->in = given;
	*out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, p};
	p->code = forked ? ECHILD : urlmillOpen((uintptr_t)processor, p);
	return p->code;
}

// refused sets *error, where there is one, to a copy of text, and returns code.
static int refused(int code, const char *text, char **error) {
	if (error) *error = strdup(text);
	return code;
}

PUBLIC int urlmill_parse_array(struct urlmill_processor *processor, const struct ArrowSchema *schema, struct ArrowArray *in, struct ArrowArray *out, char **error) {
	struct ArrowArray *given = NULL;
	char *text = NULL;
	if (error) *error = NULL;
	if (in && in->release) {
		given = malloc(sizeof *given);
		if (given) *given = *in; // which may be out as well
		else in->release(in);
		in->release = NULL;
		if (!given) {
			if (out) memset(out, 0, sizeof *out);
			return refused(ENOMEM, "urlmill: out of memory", error);
		}
	}
	if (out) memset(out, 0, sizeof *out);
	if (forked) {
		urlmill_free_array(given);
		return refused(ECHILD, fork_text, error);
	}
	if (!out || !schema || !schema->release || !given) {
		urlmill_free_array(given);
		return refused(EINVAL, "urlmill: there is no array, no schema of it, or nowhere to put the result", error);
	}
	int code = urlmillParseArray((uintptr_t)processor, (struct ArrowSchema *)schema, given, out, &text);
	if (error) *error = text;
	else free(text);
	return code;
}

PUBLIC int urlmill_array_schema(struct urlmill_processor *processor, const struct ArrowSchema *schema, struct ArrowSchema *out, char **error) {
	char *text = NULL;
	if (error) *error = NULL;
	if (out) memset(out, 0, sizeof *out);
	if (forked) return refused(ECHILD, fork_text, error);
	if (!out || !schema || !schema->release) return refused(EINVAL, "urlmill: there is no schema, or nowhere to put the result", error);
	int code = urlmillArraySchema((uintptr_t)processor, (struct ArrowSchema *)schema, out, &text);
	if (error) *error = text;
	else free(text);
	return code;
}
