/* VARCHAR as Arrow has it, in memory that is used again. */
#include "extension.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t most_bytes = array_bytes;
char too_large[] = "";

fault say(const char *format, ...) {
	va_list args;
	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *text = n < 0 ? NULL : malloc((size_t)n + 1);
	if (!text) return strdup("urlmill: out of memory");
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}

char *json_text(char *to, const char *text) {
	*to++ = '"';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\') *to++ = '\\', *to++ = (char)c;
		else if (c < ' ') to += sprintf(to, "\\u%04x", c);
		else *to++ = (char)c;
	}
	*to++ = '"';
	*to = 0;
	return to;
}

/* A vector that was far larger than others leaves no memory behind. */
static bool outgrown(const struct text *t, size_t size) { return t->capacity > (4 << 20) && t->capacity / 8 > size; }

static bool reserve(struct text *t, size_t size, int64_t rows) {
	if (!t->bytes || size > t->capacity || outgrown(t, size)) {
		size_t capacity = size + size / 4 + 64;
		free(t->bytes);
		t->bytes = malloc(capacity);
		t->capacity = t->bytes ? capacity : 0;
	}
	if (!t->offsets || rows > t->row_capacity) {
		free(t->offsets);
		free(t->valid);
		t->offsets = malloc(((size_t)rows + 1) * sizeof *t->offsets);
		t->valid = malloc((size_t)rows / 8 + 8);
		t->row_capacity = t->offsets && t->valid ? rows : 0;
	}
	return t->bytes && t->offsets && t->valid;
}

fault text_take(struct text *t, duckdb_vector vector, idx_t from, idx_t rows) {
	const duckdb_string_t *strings = (const duckdb_string_t *)duckdb_vector_get_data(vector) + from;
	const uint64_t *mask = duckdb_vector_get_validity(vector);
	size_t size = 0;
	int64_t nulls = 0;
	for (idx_t i = 0; i < rows; i++) {
		if (row_valid(mask, from + i)) size += strings[i].value.inlined.length;
		else nulls++;
	}
	t->rows = 0;
	if (size > most_bytes) return too_large;
	if (!reserve(t, size, (int64_t)rows)) return say("urlmill: out of memory");
	char *to = t->bytes;
	for (idx_t i = 0; i < rows; i++) {
		t->offsets[i] = (int32_t)(to - t->bytes);
		if (!row_valid(mask, from + i)) continue;
		uint32_t length;
		const char *text = string_at(&strings[i], &length);
		memcpy(to, text, length);
		to += length;
	}
	t->offsets[rows] = (int32_t)(to - t->bytes);
	if (nulls && from % 8 == 0) {
		memcpy(t->valid, (const uint8_t *)mask + from / 8, ((size_t)rows + 7) / 8);
	} else if (nulls) {
		memset(t->valid, 0, ((size_t)rows + 7) / 8);
		for (idx_t i = 0; i < rows; i++) t->valid[i / 8] |= (uint8_t)(row_valid(mask, from + i) << i % 8);
	}
	t->rows = (int64_t)rows;
	t->nulls = nulls;
	t->size = size;
	return NULL;
}

bool text_is(const struct text *t, duckdb_vector vector, idx_t from, idx_t rows) {
	if (t->rows != (int64_t)rows) return false;
	const duckdb_string_t *strings = (const duckdb_string_t *)duckdb_vector_get_data(vector) + from;
	const uint64_t *mask = duckdb_vector_get_validity(vector);
	for (idx_t i = 0; i < rows; i++) {
		bool valid = !t->nulls || (t->valid[i / 8] >> (i % 8) & 1);
		if (valid != row_valid(mask, from + i)) return false;
		if (!valid) continue;
		uint32_t length;
		const char *text = string_at(&strings[i], &length);
		int32_t at = t->offsets[i];
		if ((uint32_t)(t->offsets[i + 1] - at) != length || memcmp(t->bytes + at, text, length) != 0) return false;
	}
	return true;
}

static void released(struct ArrowArray *a) { a->release = NULL; }

void text_array(struct text *t, struct ArrowArray *out) {
	t->buffers[0] = t->nulls ? t->valid : NULL;
	t->buffers[1] = t->offsets;
	t->buffers[2] = t->bytes;
	*out = (struct ArrowArray){.length = t->rows, .null_count = t->nulls, .n_buffers = 3, .buffers = t->buffers, .release = released};
}

void text_free(struct text *t) {
	free(t->bytes);
	free(t->offsets);
	free(t->valid);
	memset(t, 0, sizeof *t);
}
