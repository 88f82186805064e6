/* Arrays of Arrow as vectors of DuckDB. */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

/* Bitmaps of the two have the same bits in memory, where the least significant byte is the first. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "machines with the most significant byte first are not supported"
#endif
_Static_assert(sizeof(duckdb_string_t) == 16 && sizeof(char *) == 8, "a string is its length, its first 4 bytes, and a pointer to it or 8 bytes more");

static bool is(const struct ArrowSchema *s, const char *format) { return strcmp(s->format, format) == 0; }

static duckdb_logical_type struct_type(const struct ArrowSchema *s) {
	enum { most = 256 };
	duckdb_logical_type types[most];
	const char *names[most];
	int64_t n = 0;
	bool ok = s->n_children <= most;
	for (; ok && n < s->n_children; n++) {
		types[n] = type_of(s->children[n]);
		names[n] = s->children[n]->name;
		ok = types[n];
		if (!ok) break;
	}
	duckdb_logical_type type = ok ? duckdb_create_struct_type(types, names, (idx_t)n) : NULL;
	for (int64_t i = 0; i < n; i++) duckdb_destroy_logical_type(&types[i]);
	return type;
}

duckdb_logical_type type_of(const struct ArrowSchema *s) {
	static const struct {
		const char *format;
		duckdb_type type;
	} plain[] = {
		{"u", DUCKDB_TYPE_VARCHAR}, {"b", DUCKDB_TYPE_BOOLEAN}, {"i", DUCKDB_TYPE_INTEGER}, {"l", DUCKDB_TYPE_BIGINT}, {"g", DUCKDB_TYPE_DOUBLE},
		{"z", DUCKDB_TYPE_BLOB}, {"tsu:", DUCKDB_TYPE_TIMESTAMP}, {"tsu:UTC", DUCKDB_TYPE_TIMESTAMP_TZ},
	};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		if (is(s, plain[i].format)) return duckdb_create_logical_type(plain[i].type);
	}
	if (is(s, "+s")) return struct_type(s);
	if (!is(s, "+l") || s->n_children != 1) return NULL;
	duckdb_logical_type value = type_of(s->children[0]);
	if (!value) return NULL;
	duckdb_logical_type type = duckdb_create_list_type(value);
	duckdb_destroy_logical_type(&value);
	return type;
}

static uint64_t *writable(duckdb_vector v) {
	duckdb_vector_ensure_validity_writable(v);
	return duckdb_vector_get_validity(v);
}

void put_null(duckdb_vector to, idx_t row) { duckdb_validity_set_row_invalid(writable(to), row); }

static bool bit(const uint8_t *bits, int64_t i) { return bits[i / 8] >> (i % 8) & 1; }

/* put_nulls sets the rows to null that are so in the array or in nulls. */
static void put_nulls(const struct ArrowArray *a, int64_t at, int64_t rows, const uint64_t *nulls, duckdb_vector to, idx_t into) {
	const uint8_t *bits = a->null_count && a->n_buffers ? a->buffers[0] : NULL;
	if (!bits && !nulls) return;
	uint64_t *mask = writable(to);
	int64_t i = 0;
	for (; bits && into == 0 && at % 8 == 0 && i + 64 <= rows; i += 64) memcpy(&mask[i / 64], bits + (at + i) / 8, 8);
	for (; bits && i < rows; i++) {
		uint64_t row = into + (uint64_t)i;
		if (bit(bits, at + i)) mask[row / 64] |= (uint64_t)1 << (row % 64);
		else mask[row / 64] &= ~((uint64_t)1 << (row % 64));
	}
	if (!nulls) return;
	for (i = 0; into == 0 && i + 64 <= rows; i += 64) mask[i / 64] &= nulls[i / 64];
	for (; i < rows; i++) {
		uint64_t row = into + (uint64_t)i;
		if (!row_valid(nulls, row)) mask[row / 64] &= ~((uint64_t)1 << (row % 64));
	}
}

/* first_bytes returns the first 12 bytes of a text, with zeros behind them where it is shorter: strings are compared with those. there is
 * how many may be read. */
static inline unsigned __int128 first_bytes(const char *from, uint32_t length, int32_t there) {
	uint64_t low = 0;
	uint32_t high = 0;
	if (there >= 12) {
		memcpy(&low, from, 8);
		memcpy(&high, from + 8, 4);
	} else {
		char text[12] = {0};
		memcpy(text, from, length);
		memcpy(&low, text, 8);
		memcpy(&high, text + 8, 4);
	}
	uint32_t bits = 8 * (length < 12 ? length : 12);
	return ((unsigned __int128)high << 64 | low) & (((unsigned __int128)1 << bits) - 1);
}

/* put_text hands over the bytes of all rows as one string, which DuckDB copies into memory that lives as long as the vector, and has
 * every row point into that. A call for each would cost more than to parse it. */
static fault put_text(const struct ArrowArray *a, int64_t at, int64_t rows, duckdb_vector to, idx_t into) {
	const int32_t *offsets = (const int32_t *)a->buffers[1] + at;
	const char *bytes = a->buffers[2];
	duckdb_string_t *strings = (duckdb_string_t *)duckdb_vector_get_data(to) + into;
	char *base = NULL;
	int32_t first = offsets[0];
	size_t size = (size_t)(offsets[rows] - first);
	if (size > 12) {
		duckdb_vector_assign_string_element_len(to, into, bytes + first, size);
		if (strings[0].value.pointer.length != size) return say("urlmill: DuckDB has taken %u bytes of %zu", (unsigned)strings[0].value.pointer.length, size);
		base = strings[0].value.pointer.ptr;
	}
	int32_t last = offsets[rows], begin = first;
	for (int64_t i = 0; i < rows; i++) {
		int32_t end = offsets[i + 1]; /* which the compiler takes for a part of what is written */
		uint32_t length = (uint32_t)(end - begin);
		const char *from = bytes + begin;
		unsigned __int128 text = first_bytes(from, length, last - begin);
		/* Its two words at once: memory that is written in parts is slow to read as a whole. */
		uint64_t words[2] = {(uint64_t)text << 32 | length, (uint64_t)(text >> 32)};
		if (length > 12) words[1] = (uint64_t)(uintptr_t)(base + (begin - first));
		memcpy(&strings[i], words, sizeof words);
		begin = end;
	}
	return NULL;
}

static fault put_list(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t at, int64_t rows, duckdb_vector to, idx_t into) {
	const int32_t *offsets = (const int32_t *)a->buffers[1] + at;
	duckdb_list_entry *entries = (duckdb_list_entry *)duckdb_vector_get_data(to) + into;
	int32_t first = offsets[0];
	int64_t values = offsets[rows] - first;
	idx_t there = into ? duckdb_list_vector_get_size(to) : 0, all = there + (idx_t)values;
	for (int64_t i = 0; i < rows; i++) entries[i] = (duckdb_list_entry){there + (uint64_t)(offsets[i] - first), (uint64_t)(offsets[i + 1] - offsets[i])};
	if (duckdb_list_vector_reserve(to, all) != DuckDBSuccess || duckdb_list_vector_set_size(to, all) != DuckDBSuccess) {
		return say("urlmill: DuckDB has no room for a list of %lld values", (long long)all);
	}
	return values ? put(s->children[0], a->children[0], first, values, NULL, duckdb_list_vector_get_child(to), there) : NULL;
}

fault put(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t first, int64_t rows, const uint64_t *nulls, duckdb_vector to, idx_t into) {
	int64_t at = a->offset + first;
	fault why = NULL;
	if (!rows) return NULL;
	if (is(s, "u") || is(s, "z")) {
		why = put_text(a, at, rows, to, into);
	} else if (is(s, "b")) {
		bool *values = (bool *)duckdb_vector_get_data(to) + into;
		for (int64_t i = 0; i < rows; i++) values[i] = bit(a->buffers[1], at + i);
	} else if (is(s, "i")) {
		memcpy((int32_t *)duckdb_vector_get_data(to) + into, (const int32_t *)a->buffers[1] + at, (size_t)rows * 4);
	} else if (is(s, "l") || is(s, "g") || strncmp(s->format, "tsu:", 4) == 0) {
		memcpy((int64_t *)duckdb_vector_get_data(to) + into, (const int64_t *)a->buffers[1] + at, (size_t)rows * 8);
	} else if (is(s, "+l")) {
		why = put_list(s, a, at, rows, to, into);
	} else if (is(s, "+s")) {
		/* A field of a null struct is null: DuckDB looks at nothing but the field. */
		for (int64_t i = 0; !why && i < a->n_children; i++) {
			why = put(s->children[i], a->children[i], at, rows, nulls, duckdb_struct_vector_get_child(to, (idx_t)i), into);
		}
	} else {
		why = say("urlmill: there is no type of DuckDB for Arrow's %s", s->format);
	}
	if (!why) put_nulls(a, at, rows, nulls, to, into);
	return why;
}
