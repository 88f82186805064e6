// What the two languages of the library tell each other. Users have urlmill.h.
#ifndef URLMILL_BORDER_H
#define URLMILL_BORDER_H

#include <stddef.h>
#include <stdint.h>

#include "urlmill.h"

// block holds the nodes below the root of an exported array and the pointers to their buffers and children, and room for copies of the
// buffers: one allocation for a batch. It lives until the root and every node have been released, wherever they were moved.
struct urlmill_block {
	int refs;         // atomic: nodes that have not been released, with the root
	uintptr_t handle; // of what buffers belong to, released with the block; 0 where all of them are in the block
	struct ArrowArray *nodes;
	const void **pointers;
	char *copies; // bytes whose contents are undefined, aligned as Arrow recommends
};

// urlmill_block_new returns a block with so many nodes and pointers, all of them zeros, and bytes for copies. It is the owner of the
// nodes and of the root. NULL without memory.
struct urlmill_block *urlmill_block_new(size_t nodes, size_t pointers, size_t bytes, uintptr_t handle, struct ArrowArray *root);

// urlmill_zeros is what empty buffers point at: not all consumers take NULL.
const void *urlmill_zeros(void);

// stream is the private data of a stream of ours.
struct urlmill_stream {
	struct ArrowArrayStream in;
	uintptr_t handle; // 0 where it could not be opened
	int code;         // of the error that it could not be opened for
	char *error;      // malloc'd, NULL for none
};

// urlmill_schema_copy makes *out a copy of a schema, and leaves that as it is. It returns ENOMEM or 0.
int urlmill_schema_copy(const struct ArrowSchema *of, struct ArrowSchema *out);

// urlmill_schema_model returns a copy of a schema that schemas are made of by urlmill_schema_new; NULL without memory. It is freed with
// free.
struct urlmill_schema *urlmill_schema_model(const struct ArrowSchema *of);

// urlmill_schema_new makes *out a schema like the model, a struct, with so many more children, which are released and for
// the caller to move schemas into. It is one allocation, which lives until the root and every node of the model have been
// released, wherever they were moved. It returns ENOMEM or 0.
int urlmill_schema_new(const struct urlmill_schema *model, size_t more, struct ArrowSchema *out);

// asked is a schema, malloc'd, or the error that there was none for; ENOMEM without a text of the stream's where lacking is set.
struct urlmill_asked {
	struct ArrowSchema *schema;
	int code, lacking;
};

// pulled is an array, malloc'd, or the error that there was none for, as in asked, or neither at the end.
struct urlmill_pulled {
	struct ArrowArray *array;
	int code, lacking;
};

// Calls through pointers, which Go cannot make. As each call of C from Go costs something, they do what belongs together.
struct urlmill_asked urlmill_ask_schema(struct ArrowArrayStream *s);
struct urlmill_pulled urlmill_pull(struct ArrowArrayStream *s);
const char *urlmill_get_last_error(struct ArrowArrayStream *s);
void urlmill_release_schema(struct ArrowSchema *s);
void urlmill_free_schema(struct ArrowSchema *s); // what has not been moved out of it is released
void urlmill_free_array(struct ArrowArray *a);   // which is released; NULL is allowed

#endif
