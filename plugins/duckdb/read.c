/* The table function urlmill_read: rows of files, by urlmill's codecs. */
#include "extension.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../arrowc/read.h"

static const char *const named[] = {"codec", "nginx", "apache", "base_url"};

/* source is what a query reads: its options of JSON without their end, and the columns that there are. */
struct source {
	char *options;
	struct ArrowSchema schema;
};

/* scan is the reading, by several threads. */
struct scan {
	pthread_mutex_t lock;
	struct ArrowArrayStream rows;
	struct ArrowSchema schema;
	idx_t *columns; /* for each vector of a chunk, its column in the schema; none for one that nobody reads */
	bool ended;
};

enum { none = -1 };

/* piece is the array that a thread hands out. */
struct piece {
	struct ArrowArray array;
	int64_t at;
};

static void source_free(void *arg) {
	struct source *s = arg;
	if (s->schema.release) s->schema.release(&s->schema);
	free(s->options);
	free(s);
}

static void scan_free(void *arg) {
	struct scan *s = arg;
	if (s->schema.release) s->schema.release(&s->schema);
	if (s->rows.release) s->rows.release(&s->rows);
	pthread_mutex_destroy(&s->lock);
	free(s->columns);
	free(s);
}

static void piece_free(void *arg) {
	struct piece *p = arg;
	if (p->array.release) p->array.release(&p->array);
	free(p);
}

/* text_of returns a value as text, to be freed with duckdb_free; NULL for a null or no value. */
static char *text_of(duckdb_value *v) {
	char *text = *v && !duckdb_is_null_value(*v) ? duckdb_get_varchar(*v) : NULL;
	if (*v) duckdb_destroy_value(v);
	return text;
}

/* append adds a text of JSON, or what stands between, to options. */
static bool append(char **options, const char *before, const char *text) {
	size_t size = strlen(*options);
	char *more = realloc(*options, size + strlen(before) + 6 * strlen(text) + 4);
	if (!more) return false;
	*options = more;
	strcpy(more + size, before);
	if (*text) json_text(more + strlen(more), text);
	return true;
}

static bool append_paths(char **options, duckdb_value paths) {
	if (duckdb_is_null_value(paths)) return append(options, "]", "");
	bool list = duckdb_get_type_id(duckdb_get_value_type(paths)) == DUCKDB_TYPE_LIST, ok = true;
	idx_t n = list ? duckdb_get_list_size(paths) : 1;
	for (idx_t i = 0; ok && i < n; i++) {
		duckdb_value v = list ? duckdb_get_list_child(paths, i) : NULL;
		char *path = list ? text_of(&v) : duckdb_get_varchar(paths);
		if (path) ok = append(options, i ? ", " : "", path);
		duckdb_free(path);
	}
	return ok && append(options, "]", "");
}

/* options_of returns the options of a call, without the bracket at the end. */
static char *options_of(duckdb_bind_info info) {
	char *options = strdup("{\"paths\": [");
	duckdb_value paths = duckdb_bind_get_parameter(info, 0);
	bool ok = options && append_paths(&options, paths);
	duckdb_destroy_value(&paths);
	for (size_t i = 0; ok && i < sizeof named / sizeof *named; i++) {
		duckdb_value v = duckdb_bind_get_named_parameter(info, named[i]);
		char *text = text_of(&v);
		if (text && *text) ok = append(&options, ", ", named[i]) && append(&options, ": ", text);
		duckdb_free(text);
	}
	const char *list = getenv("URLMILL_PSL");
	if (ok && list && *list) ok = append(&options, ", \"psl\": ", list);
	if (ok) return options;
	free(options);
	return NULL;
}

static fault failure(char *error, int code) {
	fault why = error ? say("urlmill_read: %s", error) : say("urlmill_read: error %d", code);
	urlmill_free(error);
	return why;
}

/* open_rows opens files by options, with what ends them. */
static fault open_rows(const char *options, const char *end, struct ArrowArrayStream *rows, struct ArrowSchema *schema) {
	char *whole = malloc(strlen(options) + strlen(end) + 1), *error = NULL;
	if (!whole) return say("urlmill: out of memory");
	strcat(strcpy(whole, options), end);
	int code = urlmill_read(whole, rows, &error);
	free(whole);
	if (!code) code = rows->get_schema(rows, schema);
	return code ? failure(error, code) : NULL;
}

static void bind(duckdb_bind_info info) {
	struct source *s = calloc(1, sizeof *s);
	struct ArrowArrayStream rows = {.release = NULL};
	fault why = s && (s->options = options_of(info)) ? open_rows(s->options, "}", &rows, &s->schema) : say("urlmill: out of memory");
	if (rows.release) rows.release(&rows);
	for (int64_t i = 0; !why && i < s->schema.n_children; i++) {
		duckdb_logical_type type = type_of(s->schema.children[i]);
		if (!type) {
			why = say("urlmill_read: column %s is of Arrow's type %s, which has none in DuckDB", s->schema.children[i]->name, s->schema.children[i]->format);
			break;
		}
		duckdb_bind_add_result_column(info, s->schema.children[i]->name, type);
		duckdb_destroy_logical_type(&type);
	}
	if (why) {
		duckdb_bind_set_error(info, why);
		free(why);
		if (s) source_free(s);
		return;
	}
	duckdb_bind_set_bind_data(info, s, source_free);
}

/* columns_of returns the end of options that name the columns of a query, each once, and fills in where vectors have theirs. */
static char *columns_of(duckdb_init_info info, const struct source *s, idx_t *columns) {
	char *end = strdup(", \"columns\": [");
	idx_t n = duckdb_init_get_column_count(info), named_columns = 0;
	bool ok = end;
	for (idx_t i = 0; ok && i < n; i++) {
		idx_t c = duckdb_init_get_column_index(info, i);
		columns[i] = c < (idx_t)s->schema.n_children ? named_columns : (idx_t)none;
		if (columns[i] == (idx_t)none) continue;
		ok = append(&end, named_columns ? ", " : "", s->schema.children[c]->name);
		named_columns++;
	}
	if (ok && !named_columns) ok = append(&end, "", "record"); /* what costs least: rows are counted */
	if (ok && append(&end, "]}", "")) return end;
	free(end);
	return NULL;
}

static void init(duckdb_init_info info) {
	const struct source *s = duckdb_init_get_bind_data(info);
	struct scan *scan = calloc(1, sizeof *scan);
	char *end = NULL;
	if (scan) {
		pthread_mutex_init(&scan->lock, NULL);
		scan->columns = calloc(duckdb_init_get_column_count(info) + 1, sizeof *scan->columns);
		if (scan->columns) end = columns_of(info, s, scan->columns);
	}
	fault why = end ? open_rows(s->options, end, &scan->rows, &scan->schema) : say("urlmill: out of memory");
	free(end);
	if (why) {
		duckdb_init_set_error(info, why);
		free(why);
		if (scan) scan_free(scan);
		return;
	}
	duckdb_init_set_max_threads(info, 64);
	duckdb_init_set_init_data(info, scan, scan_free);
}

static void init_thread(duckdb_init_info info) {
	struct piece *p = calloc(1, sizeof *p);
	if (p) duckdb_init_set_init_data(info, p, piece_free);
	else duckdb_init_set_error(info, "urlmill: out of memory");
}

/* next makes the piece the next array; it is released at the end. */
static fault next(struct scan *s, struct piece *p) {
	if (p->array.release) p->array.release(&p->array);
	p->at = 0;
	fault why = NULL;
	pthread_mutex_lock(&s->lock);
	if (!s->ended) {
		int code = s->rows.get_next(&s->rows, &p->array);
		if (code) {
			const char *error = s->rows.get_last_error(&s->rows);
			why = failure(error ? strdup(error) : NULL, code);
		}
		s->ended = code || !p->array.release;
	}
	pthread_mutex_unlock(&s->lock);
	return why;
}

static void hand_out(duckdb_function_info info, duckdb_data_chunk out) {
	struct scan *s = duckdb_function_get_init_data(info);
	struct piece *p = duckdb_function_get_local_init_data(info);
	fault why = NULL;
	if (!p->array.release || p->at == p->array.length) why = next(s, p);
	int64_t rows = 0;
	if (!why && p->array.release) {
		int64_t most = (int64_t)duckdb_vector_size(), left = p->array.length - p->at;
		rows = left < most ? left : most;
		idx_t n = duckdb_data_chunk_get_column_count(out);
		for (idx_t i = 0; !why && i < n; i++) {
			idx_t c = s->columns[i];
			if (c != (idx_t)none) why = put(s->schema.children[c], p->array.children[c], p->array.offset + p->at, rows, NULL, duckdb_data_chunk_get_vector(out, i), 0);
		}
		p->at += rows;
	}
	if (why) {
		duckdb_function_set_error(info, why);
		free(why);
		return;
	}
	duckdb_data_chunk_set_size(out, (idx_t)rows);
}

bool register_read(duckdb_connection connection, fault *why) {
	duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY), text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
	duckdb_table_function f = duckdb_create_table_function();
	duckdb_table_function_set_name(f, "urlmill_read");
	duckdb_table_function_add_parameter(f, any);
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) duckdb_table_function_add_named_parameter(f, named[i], text);
	duckdb_table_function_set_bind(f, bind);
	duckdb_table_function_set_init(f, init);
	duckdb_table_function_set_local_init(f, init_thread);
	duckdb_table_function_set_function(f, hand_out);
	duckdb_table_function_supports_projection_pushdown(f, true);
	bool ok = duckdb_register_table_function(connection, f) == DuckDBSuccess;
	duckdb_destroy_table_function(&f);
	duckdb_destroy_logical_type(&any);
	duckdb_destroy_logical_type(&text);
	if (!ok) *why = say("urlmill: DuckDB does not take urlmill_read; is there a function of that name already?");
	return ok;
}
