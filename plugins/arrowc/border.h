// What the two languages of the library tell each other. Users have urlmill.h.
#ifndef URLMILL_BORDER_H
#define URLMILL_BORDER_H

#include <stddef.h>
#include <stdint.h>

#include "urlmill.h"

// block holds the nodes below the root of an exported array and the pointers to their buffers and children: one
// allocation for a batch. It lives until the root and every node have been released, wherever they were moved.
struct urlmill_block {
	int refs;         // atomic: nodes that have not been released, with the root
	uintptr_t handle; // of what the buffers belong to, released with the block
	struct ArrowArray *nodes;
	const void **pointers;
};

// urlmill_block_new returns a block of zeros with so many nodes and pointers, which is the owner of the nodes and of the root;
// NULL without memory.
struct urlmill_block *urlmill_block_new(size_t nodes, size_t pointers, struct ArrowArray *root);

// urlmill_zeros is what empty buffers point at: not all consumers take NULL.
const void *urlmill_zeros(void);

// stream is the private data of a stream of ours.
struct urlmill_stream {
	struct ArrowArrayStream in;
	uintptr_t handle; // 0 where it could not be opened
	int code;         // of the error that it could not be opened for
	char *error;      // malloc'd, NULL for none
};

// urlmill_schema_model returns a copy of a schema that schemas are made of by urlmill_schema_new; NULL without memory. It is freed with
// free.
struct urlmill_schema *urlmill_schema_model(const struct ArrowSchema *of);

// urlmill_schema_new makes *out a schema like the model, a struct, with so many more children, which are released and for
// the caller to move schemas into. It is one allocation, which lives until the root and every node of the model have been
// released, wherever they were moved. It returns ENOMEM or 0.
int urlmill_schema_new(const struct urlmill_schema *model, size_t more, struct ArrowSchema *out);

// Calls through pointers, which Go cannot make.
int urlmill_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out);
int urlmill_get_next(struct ArrowArrayStream *s, struct ArrowArray *out);
const char *urlmill_get_last_error(struct ArrowArrayStream *s);
void urlmill_release_schema(struct ArrowSchema *s);
void urlmill_release_array(struct ArrowArray *a);

#endif
