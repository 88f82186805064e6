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

// urlmill_block_new returns a block of zeros with so many nodes and pointers, whose refs count the root as well; NULL
// without memory.
struct urlmill_block *urlmill_block_new(size_t nodes, size_t pointers);

// urlmill_own makes the block the owner of a node or of the root.
void urlmill_own(struct urlmill_block *block, struct ArrowArray *node);

// urlmill_zeros is what empty buffers point at: not all consumers take NULL.
const void *urlmill_zeros(void);

// stream is the private data of a stream of ours.
struct urlmill_stream {
	struct ArrowArrayStream in;
	uintptr_t handle; // 0 where it could not be opened
	int code;         // of the error that it could not be opened for
	char *error;      // malloc'd, NULL for none
};

// urlmill_struct makes *out the schema of a struct of n children, which the caller then moves into out->children. It
// returns ENOMEM or 0.
int urlmill_struct(struct ArrowSchema *out, size_t n);

// Calls through pointers, which Go cannot make.
int urlmill_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out);
int urlmill_get_next(struct ArrowArrayStream *s, struct ArrowArray *out);
const char *urlmill_get_last_error(struct ArrowArrayStream *s);
void urlmill_release_schema(struct ArrowSchema *s);
void urlmill_release_array(struct ArrowArray *a);

#endif
