/* What the parts of the extension tell each other. */
#ifndef URLMILL_EXTENSION_H
#define URLMILL_EXTENSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "duckdb_capi/duckdb_extension.h"

#include "../arrowc/urlmill.h"

DUCKDB_EXTENSION_EXTERN

/* Columns of URLs, in the order that the struct of urlmill_parse has; those behind the struct's are only asked for one by one. */
enum column {
	HREF, SCHEME, HAS_USERNAME, HOST, PORT, ORIGIN, REGISTRABLE_DOMAIN, PUBLIC_SUFFIX, PATH, QUERY, PARAMS, FRAGMENT, URL_ERROR, URL_ERROR_POS,
	STRUCT_COLUMNS,
	SURT_KEY = STRUCT_COLUMNS,
	CANONICAL_URL,
	COLUMNS
};

#define BIT(column) ((uint32_t)1 << (column))

/* Canonical forms, 0 for none. */
enum { FORMS = 5 };
extern const char *const form_names[FORMS];

/* text is a copy of some rows of VARCHAR as an array of Arrow. Its memory is used again. */
struct text {
	int64_t rows, nulls;
	size_t size, capacity; /* of the bytes */
	int64_t row_capacity;
	int32_t *offsets; /* rows + 1 */
	char *bytes;
	uint8_t *valid; /* a bitmap; looked at only where there are nulls */
	const void *buffers[3];
};

/* What can go wrong with a vector, for who reports it. The text is to be freed, but for too_large, which is never reported. */
typedef char *fault;

/* too_large says that the rows have more bytes than an array may have, or would have in a column made of them: fewer rows may do. */
extern char too_large[];

/* most_bytes is how many bytes of URLs an array is given at most: array_bytes, as the library says, or URLMILL_MOST_BYTES, for tests. */
enum { array_bytes = 512 << 20 };
extern size_t most_bytes;

/* text_take makes t a copy of some rows of a vector. */
fault text_take(struct text *t, duckdb_vector vector, idx_t from, idx_t rows);

/* text_is reports whether t is a copy of rows that are equal to those of the vector. */
bool text_is(const struct text *t, duckdb_vector vector, idx_t from, idx_t rows);

/* text_array makes *out an array of Arrow that looks at t, and is not to be released. */
void text_array(struct text *t, struct ArrowArray *out);
void text_free(struct text *t);

/* string_at returns where the text of a VARCHAR is, and its length. */
static inline const char *string_at(const duckdb_string_t *s, uint32_t *length) {
	*length = s->value.inlined.length;
	return *length <= 12 ? s->value.inlined.inlined : s->value.pointer.ptr;
}

/* row_valid looks at a bitmap of DuckDB's; NULL is one without nulls. */
static inline bool row_valid(const uint64_t *mask, idx_t row) { return !mask || (mask[row / 64] >> (row % 64) & 1); }

/* type_of returns the type that a column of Arrow has in DuckDB, to be destroyed; NULL for one that has none here. */
duckdb_logical_type type_of(const struct ArrowSchema *schema);

/* put writes rows of an array of Arrow, from its row first on, into a vector of the type that type_of returns, from row into on. Rows of the vector that
 * nulls, of DuckDB, calls null become null, whatever they are in the array; NULL is for none. */
fault put(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t first, int64_t rows, const uint64_t *nulls, duckdb_vector to, idx_t into);

/* put_null makes a row null. */
void put_null(duckdb_vector to, idx_t row);

/* parsed is what became of the URLs of a vector, until the thread asks again. */
struct parsed {
	const struct ArrowSchema *schema; /* a struct with columns that begin with those asked for, in their order */
	const struct ArrowArray *array;
	const uint64_t *nulls; /* of the vector's URLs, of DuckDB */
	uint32_t columns;
};

/* parse_shared parses some rows of a vector for some columns, and for a canonical form. What was parsed before for the same texts is used again. */
fault parse_shared(duckdb_vector urls, idx_t from, idx_t rows, uint32_t columns, int form, struct parsed *out);

/* parse_with_bases parses rows with a base for each, for the columns of the struct. */
fault parse_with_bases(duckdb_vector urls, duckdb_vector bases, idx_t from, idx_t rows, struct parsed *out);

/* child returns the index of a column among columns. */
static inline int child(uint32_t columns, int column) { return __builtin_popcount(columns & (BIT(column) - 1)); }

/* struct_schema returns the schema of the struct of urlmill_parse, for ever. */
fault struct_schema(const struct ArrowSchema **out);

/* say returns a text of malloc, as printf writes it. */
fault say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* json_text appends a text to one of JSON, with quotes. It returns what lies behind it; room is 6 bytes for each of text, and 3. */
char *json_text(char *to, const char *text);

/* What functions have cost the thread that called them, in nanoseconds, and calls of the library within; counted with URLMILL_TIMED, for the benchmark. */
extern bool timed;
extern int64_t spent_all, spent_library; /* atomic */
int64_t thread_time(void);
#define SPENT(on, statement) do { \
		int64_t before = timed ? thread_time() : 0; \
		statement; \
		if (timed) __atomic_add_fetch(&(on), thread_time() - before, __ATOMIC_RELAXED); \
	} while (0)

bool register_scalars(duckdb_connection connection, fault *why);
bool register_read(duckdb_connection connection, fault *why);

#endif
