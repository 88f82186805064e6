/* The native methods of io.github.urlmill.Native: the C library for the JVM. Java keeps addresses as longs. What they point at is the C
 * heap's, so that the garbage collector neither moves it nor waits for it. */
#include <errno.h>
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "urlmill.h"

#define METHOD(type, name) JNIEXPORT type JNICALL Java_io_github_urlmill_Native_##name
#define POINTER(type, address) ((type *)(uintptr_t)(address))
#define ADDRESS(pointer) ((jlong)(uintptr_t)(pointer))

/* A processor, and the schema of what it makes. */
struct processor {
	struct urlmill_processor *processor;
	struct ArrowSchema schema;
	bool bases;
};

static void released_schema(struct ArrowSchema *s) { s->release = NULL; }
static void released(struct ArrowArray *a) { a->release = NULL; }

static struct ArrowSchema url_schema = {.format = "u", .name = "url", .flags = ARROW_FLAG_NULLABLE, .release = released_schema};
static struct ArrowSchema base_schema = {.format = "u", .name = "base", .flags = ARROW_FLAG_NULLABLE, .release = released_schema};
static struct ArrowSchema *pair[] = {&url_schema, &base_schema};
static struct ArrowSchema pair_schema = {.format = "+s", .name = "", .n_children = 2, .children = pair, .release = released_schema};

static const struct ArrowSchema *given(bool bases) { return bases ? &pair_schema : &url_schema; }

static jbyteArray bytes_of(JNIEnv *env, const char *text) {
	jsize length = (jsize)strlen(text);
	jbyteArray bytes = (*env)->NewByteArray(env, length);
	if (bytes) (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
	return bytes;
}

/* throw_new throws an exception of a class with a text in UTF-8. */
static void throw_new(JNIEnv *env, const char *of, const char *text) {
	jclass class = (*env)->FindClass(env, of);
	jmethodID make = class ? (*env)->GetMethodID(env, class, "<init>", "([B)V") : NULL;
	jbyteArray bytes = make ? bytes_of(env, text) : NULL;
	jobject thrown = bytes ? (*env)->NewObject(env, class, make, bytes) : NULL;
	if (thrown) (*env)->Throw(env, (jthrowable)thrown);
}

static void fail(JNIEnv *env, const char *text) { throw_new(env, "io/github/urlmill/UrlmillException", text); }

static void fail_code(JNIEnv *env, int code, char *error) {
	char text[64];
	snprintf(text, sizeof text, "liburlmill returned error %d", code);
	throw_new(env, code == E2BIG ? "io/github/urlmill/TooLargeException" : "io/github/urlmill/UrlmillException", error ? error : text);
	urlmill_free(error);
}

METHOD(jint, abi)(JNIEnv *env, jclass self) {
	(void)env, (void)self;
	return urlmill_abi();
}

METHOD(jbyteArray, version)(JNIEnv *env, jclass self) {
	(void)self;
	return bytes_of(env, urlmill_version());
}

METHOD(jlong, alive)(JNIEnv *env, jclass self) {
	(void)env, (void)self;
	return urlmill_alive();
}

METHOD(jlong, open)(JNIEnv *env, jclass self, jbyteArray options, jboolean bases) {
	(void)self;
	jsize length = (*env)->GetArrayLength(env, options);
	struct processor *p = calloc(1, sizeof *p);
	char *text = malloc((size_t)length + 1), *error = NULL;
	if (!p || !text) {
		free(p), free(text);
		fail(env, "out of memory");
		return 0;
	}
	(*env)->GetByteArrayRegion(env, options, 0, length, (jbyte *)text);
	text[length] = 0;
	p->bases = bases;
	int code = urlmill_processor_new(text, &p->processor, &error);
	if (!code) code = urlmill_array_schema(p->processor, given(bases), &p->schema, &error);
	free(text);
	if (!code) return ADDRESS(p);
	urlmill_processor_free(p->processor);
	free(p);
	fail_code(env, code, error);
	return 0;
}

METHOD(void, close)(JNIEnv *env, jclass self, jlong processor) {
	(void)env, (void)self;
	struct processor *p = POINTER(struct processor, processor);
	if (p->schema.release) p->schema.release(&p->schema);
	urlmill_processor_free(p->processor);
	free(p);
}

/* Schemas as text: a line for each node, the number of its children, its format and its name, parents before their children. */

static size_t described(const struct ArrowSchema *s, char *to, size_t room) {
	size_t n = (size_t)snprintf(to, room, "%lld %s %s\n", (long long)s->n_children, s->format, s->name ? s->name : "");
	for (int64_t i = 0; i < s->n_children; i++) n += described(s->children[i], to ? to + n : NULL, to ? room - n : 0);
	return n;
}

METHOD(jbyteArray, schema)(JNIEnv *env, jclass self, jlong processor) {
	(void)self;
	const struct ArrowSchema *s = &POINTER(struct processor, processor)->schema;
	size_t size = described(s, NULL, 0) + 1;
	char *text = malloc(size);
	if (!text) {
		fail(env, "out of memory");
		return NULL;
	}
	described(s, text, size);
	jbyteArray bytes = bytes_of(env, text);
	free(text);
	return bytes;
}

/* Arrays. Java describes a column of text by five longs: rows, nulls, and the addresses of validity, offsets and bytes. What comes out has six
 * for each node of the schema, in its order: rows, nulls, offset, and the addresses of up to three buffers. */

enum { given_longs = 5, node_longs = 6 };

struct column {
	struct ArrowArray array;
	const void *buffers[3];
};

static void column_of(struct column *c, const jlong *from) {
	c->buffers[0] = from[1] ? POINTER(void, from[2]) : NULL;
	c->buffers[1] = POINTER(void, from[3]);
	c->buffers[2] = POINTER(void, from[4]);
	c->array = (struct ArrowArray){.length = from[0], .null_count = from[1], .n_buffers = 3, .buffers = c->buffers, .release = released};
}

static jlong *put_nodes(const struct ArrowArray *a, jlong *to, const jlong *end) {
	if (!to || to + node_longs > end) return NULL;
	*to++ = a->length, *to++ = a->null_count, *to++ = a->offset;
	for (int64_t i = 0; i < 3; i++) *to++ = i < a->n_buffers ? ADDRESS(a->buffers[i]) : 0;
	for (int64_t i = 0; i < a->n_children; i++) to = put_nodes(a->children[i], to, end);
	return to;
}

/* parse returns the address of an array for release, and describes it in nodes. Of in, the first column has the URLs, the second their bases. */
METHOD(jlong, parse)(JNIEnv *env, jclass self, jlong processor, jlongArray in, jlongArray nodes) {
	(void)self;
	enum { most_nodes = 256 };
	struct processor *p = POINTER(struct processor, processor);
	jlong from[2 * given_longs], to[most_nodes * node_longs];
	jsize longs = (*env)->GetArrayLength(env, nodes);
	if (longs > most_nodes * node_longs || (*env)->GetArrayLength(env, in) != (p->bases ? 2 : 1) * given_longs) {
		fail(env, "the columns do not fit the processor");
		return 0;
	}
	(*env)->GetLongArrayRegion(env, in, 0, (p->bases ? 2 : 1) * given_longs, from);
	struct column urls, bases;
	struct ArrowArray *children[] = {&urls.array, &bases.array}, *out = malloc(sizeof *out);
	const void *none[] = {NULL};
	column_of(&urls, from);
	struct ArrowArray whole = urls.array;
	if (p->bases) {
		column_of(&bases, from + given_longs);
		whole = (struct ArrowArray){.length = from[0], .n_buffers = 1, .buffers = none, .n_children = 2, .children = children, .release = released};
	}
	char *error = NULL;
	if (!out) {
		fail(env, "out of memory");
		return 0;
	}
	int code = urlmill_parse_array(p->processor, given(p->bases), &whole, out, &error);
	if (code) {
		free(out);
		fail_code(env, code, error);
		return 0;
	}
	if (put_nodes(out, to, to + longs) != to + longs) {
		out->release(out);
		free(out);
		fail(env, "the columns made are not those of the schema");
		return 0;
	}
	(*env)->SetLongArrayRegion(env, nodes, 0, longs, to);
	return ADDRESS(out);
}

METHOD(void, release)(JNIEnv *env, jclass self, jlong array) {
	(void)env, (void)self;
	struct ArrowArray *a = POINTER(struct ArrowArray, array);
	a->release(a);
	free(a);
}

/* Memory for columns. */

METHOD(jlong, reallocate)(JNIEnv *env, jclass self, jlong address, jlong bytes) {
	(void)env, (void)self;
	return ADDRESS(realloc(POINTER(void, address), (size_t)bytes));
}

METHOD(void, free)(JNIEnv *env, jclass self, jlong address) {
	(void)env, (void)self;
	free(POINTER(void, address));
}

METHOD(jobject, view)(JNIEnv *env, jclass self, jlong address, jlong bytes) {
	(void)self;
	return (*env)->NewDirectByteBuffer(env, POINTER(void, address), bytes);
}
