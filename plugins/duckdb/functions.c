/* The scalar functions. */
#include "extension.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void report(duckdb_function_info info, fault why) {
	if (!why) return;
	duckdb_scalar_function_set_error(info, why);
	free(why);
}

/* What a function of one column is of. */
static const struct function {
	const char *name;
	int column;
} functions[] = {
	{"url_host", HOST},     {"url_registrable_domain", REGISTRABLE_DOMAIN}, {"url_public_suffix", PUBLIC_SUFFIX}, {"url_origin", ORIGIN},
	{"url_path", PATH},     {"url_query", QUERY},                           {"url_params", PARAMS},               {"url_surt", SURT_KEY},
	{"url_error", URL_ERROR}, {"url_error_pos", URL_ERROR_POS},
};

bool timed;
int64_t spent_all, spent_library;

int64_t thread_time(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

enum { the_struct = -1, another_text = -2 };

/* call is a call of a function for a vector. */
struct call {
	duckdb_data_chunk in;
	duckdb_vector out;
	int column; /* what the function is of, or one of these */
	int form;
};

static duckdb_vector argument(const struct call *c, idx_t i) { return duckdb_data_chunk_get_vector(c->in, i); }

/* put_too_large writes what becomes of a URL that is too large by itself: null, with the error that records have which are too large. */
static void put_too_large(int column, duckdb_vector out, idx_t row) {
	if (column == URL_ERROR) {
		duckdb_vector_assign_string_element(out, row, "record-too-large");
		return;
	}
	for (int i = 0; column == the_struct && i < STRUCT_COLUMNS; i++) put_too_large(i, duckdb_struct_vector_get_child(out, (idx_t)i), row);
	if (column == PARAMS) ((duckdb_list_entry *)duckdb_vector_get_data(out))[row] = (duckdb_list_entry){0, 0};
	if (column != the_struct) put_null(out, row);
}

/* in_halves calls f for rows, and where they are too large for half of them and the other half. */
static fault in_halves(const struct call *c, fault (*f)(const struct call *, idx_t, idx_t), idx_t from, idx_t rows) {
	fault why = f(c, from, rows);
	if (why != too_large) return why;
	if (rows == 1) {
		put_too_large(c->column, c->out, from);
		return NULL;
	}
	why = in_halves(c, f, from, rows / 2);
	return why ? why : in_halves(c, f, from + rows / 2, rows - rows / 2);
}

static void run(duckdb_function_info info, fault (*f)(const struct call *, idx_t, idx_t), struct call c) {
	report(info, in_halves(&c, f, 0, duckdb_data_chunk_get_size(c.in)));
}

static fault column_rows(const struct call *c, idx_t from, idx_t rows) {
	struct parsed p;
	fault why = parse_shared(argument(c, 0), from, rows, BIT(c->column), c->form, &p);
	int i = why ? 0 : child(p.columns, c->column);
	return why ? why : put(p.schema->children[i], p.array->children[i], p.array->offset, (int64_t)rows, p.nulls, c->out, from);
}

static void one_column(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	const struct function *f = duckdb_scalar_function_get_extra_info(info);
	SPENT(spent_all, run(info, column_rows, ((struct call){in, out, f->column, 0})));
}

static fault put_struct(const struct parsed *p, const struct call *call, idx_t from, idx_t rows) {
	fault why = NULL;
	for (int c = 0; !why && c < STRUCT_COLUMNS; c++) {
		int i = child(p->columns, c);
		why = put(p->schema->children[i], p->array->children[i], p->array->offset, (int64_t)rows, p->nulls, duckdb_struct_vector_get_child(call->out, (idx_t)c), from);
	}
	for (idx_t i = from; !why && p->nulls && i < from + rows; i++) {
		if (!row_valid(p->nulls, i)) put_null(call->out, i);
	}
	return why;
}

static fault struct_rows(const struct call *c, idx_t from, idx_t rows) {
	struct parsed p;
	fault why = parse_shared(argument(c, 0), from, rows, BIT(STRUCT_COLUMNS) - 1, 0, &p);
	return why ? why : put_struct(&p, c, from, rows);
}

static void all_columns(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, struct_rows, (struct call){in, out, the_struct, 0}); }

static fault based_rows(const struct call *c, idx_t from, idx_t rows) {
	struct parsed p;
	fault why = parse_with_bases(argument(c, 0), argument(c, 1), from, rows, &p);
	return why ? why : put_struct(&p, c, from, rows);
}

static void with_base(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, based_rows, (struct call){in, out, the_struct, 0}); }

/* param_rows are the first values of a parameter, by its name, of each row. */
static fault param_rows(const struct call *c, idx_t from, idx_t rows) {
	duckdb_vector names = argument(c, 1);
	struct parsed p;
	fault why = parse_shared(argument(c, 0), from, rows, BIT(PARAMS), 0, &p);
	if (why) return why;
	const struct ArrowArray *params = p.array->children[child(p.columns, PARAMS)], *pairs = params->children[0];
	const struct ArrowArray *keys = pairs->children[0], *values = pairs->children[1];
	const int32_t *lists = (const int32_t *)params->buffers[1] + params->offset + p.array->offset;
	const int32_t *key = (const int32_t *)keys->buffers[1] + keys->offset + pairs->offset;
	const int32_t *value = (const int32_t *)values->buffers[1] + values->offset + pairs->offset;
	const char *key_bytes = keys->buffers[2], *value_bytes = values->buffers[2];
	const duckdb_string_t *name = duckdb_vector_get_data(names);
	const uint64_t *named = duckdb_vector_get_validity(names);
	for (idx_t i = 0; i < rows; i++) {
		int32_t k = lists[i], end = lists[i + 1];
		uint32_t length = 0;
		const char *text = "";
		if (row_valid(p.nulls, from + i) && row_valid(named, from + i)) text = string_at(&name[from + i], &length);
		else k = end;
		while (k < end && ((uint32_t)(key[k + 1] - key[k]) != length || memcmp(key_bytes + key[k], text, length) != 0)) k++;
		if (k < end) duckdb_vector_assign_string_element_len(c->out, from + i, value_bytes + value[k], (idx_t)(value[k + 1] - value[k]));
		else put_null(c->out, from + i);
	}
	return NULL;
}

static void param(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) { run(info, param_rows, (struct call){in, out, another_text, 0}); }

static int form_of(const char *name, uint32_t length) {
	for (int f = 1; f < FORMS; f++) {
		if (strlen(form_names[f]) == length && memcmp(form_names[f], name, length) == 0) return f;
	}
	return 0;
}

/* canonical_rows are those whose form is the call's. */
static fault canonical_rows(const struct call *c, idx_t from, idx_t rows) {
	const duckdb_string_t *name = duckdb_vector_get_data(argument(c, 1));
	const uint64_t *named = duckdb_vector_get_validity(argument(c, 1));
	struct parsed p;
	fault why = parse_shared(argument(c, 0), from, rows, BIT(CANONICAL_URL), c->form, &p);
	if (why) return why;
	const struct ArrowArray *a = p.array->children[child(p.columns, CANONICAL_URL)];
	const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + p.array->offset;
	const uint8_t *valid = a->null_count ? a->buffers[0] : NULL;
	for (idx_t i = 0; i < rows; i++) {
		uint32_t length;
		int64_t at = (int64_t)i + a->offset + p.array->offset;
		if (!row_valid(named, from + i)) continue;
		const char *text = string_at(&name[from + i], &length);
		if (form_of(text, length) != c->form) continue;
		if (!row_valid(p.nulls, from + i) || (valid && !(valid[at / 8] >> (at % 8) & 1))) put_null(c->out, from + i);
		else duckdb_vector_assign_string_element_len(c->out, from + i, (const char *)a->buffers[2] + offsets[i], (idx_t)(offsets[i + 1] - offsets[i]));
	}
	return NULL;
}

/* canonical is the URL in a form that is the same in all rows as a rule; where it is not, rows of the first form are asked for, then those of
 * the second. */
static void canonical(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	idx_t rows = duckdb_data_chunk_get_size(in);
	duckdb_vector forms = duckdb_data_chunk_get_vector(in, 1);
	const duckdb_string_t *name = duckdb_vector_get_data(forms);
	const uint64_t *named = duckdb_vector_get_validity(forms);
	unsigned seen = 0;
	for (idx_t i = 0; i < rows; i++) {
		uint32_t length;
		if (!row_valid(named, i)) {
			seen |= 1;
			continue;
		}
		const char *text = string_at(&name[i], &length);
		int form = form_of(text, length);
		if (!form) {
			report(info, say("url_canonical: the form \"%.*s\" is none of strict, dedupe, surt-ia, surt-cc", (int)(length < 100 ? length : 100), text));
			return;
		}
		seen |= 1U << form;
	}
	if (rows && (seen & (seen - 1)) == 0 && seen != 1) {
		run(info, column_rows, (struct call){in, out, CANONICAL_URL, __builtin_ctz(seen)});
		return;
	}
	for (idx_t i = 0; i < rows; i++) {
		if (!row_valid(named, i)) put_null(out, i);
	}
	fault why = NULL;
	for (int form = 1; !why && form < FORMS; form++) {
		struct call c = {in, out, another_text, form};
		if (seen >> form & 1) why = in_halves(&c, canonical_rows, 0, rows);
	}
	report(info, why);
}

static void version(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
	(void)info;
	const char *text = urlmill_version();
	char with_times[1024];
	if (timed) {
		snprintf(with_times, sizeof with_times, "%.*s,\"spent\":{\"all\":%lld,\"library\":%lld}}", (int)strlen(text) - 1, text, (long long)spent_all, (long long)spent_library);
		text = with_times;
	}
	for (idx_t i = 0, rows = duckdb_data_chunk_get_size(in); i < rows; i++) duckdb_vector_assign_string_element(out, i, text);
}

/* scalar returns a function with parameters of VARCHAR, and nulls that it sees. */
static duckdb_scalar_function scalar(const char *name, int parameters, duckdb_logical_type result, duckdb_scalar_function_t run) {
	duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
	duckdb_scalar_function f = duckdb_create_scalar_function();
	duckdb_scalar_function_set_name(f, name);
	for (int i = 0; i < parameters; i++) duckdb_scalar_function_add_parameter(f, text);
	duckdb_scalar_function_set_return_type(f, result);
	duckdb_scalar_function_set_special_handling(f);
	duckdb_scalar_function_set_function(f, run);
	duckdb_destroy_logical_type(&text);
	return f;
}

static bool add(duckdb_connection to, duckdb_scalar_function f) {
	bool ok = duckdb_register_scalar_function(to, f) == DuckDBSuccess;
	duckdb_destroy_scalar_function(&f);
	return ok;
}

static bool add_parse(duckdb_connection to, duckdb_logical_type result) {
	duckdb_scalar_function_set set = duckdb_create_scalar_function_set("urlmill_parse");
	bool ok = true;
	for (int parameters = 1; parameters <= 2; parameters++) {
		duckdb_scalar_function f = scalar("urlmill_parse", parameters, result, parameters == 1 ? all_columns : with_base);
		ok = duckdb_add_scalar_function_to_set(set, f) == DuckDBSuccess && ok;
		duckdb_destroy_scalar_function(&f);
	}
	ok = ok && duckdb_register_scalar_function_set(to, set) == DuckDBSuccess;
	duckdb_destroy_scalar_function_set(&set);
	return ok;
}

bool register_scalars(duckdb_connection connection, fault *why) {
	const struct ArrowSchema *all;
	timed = getenv("URLMILL_TIMED") != NULL;
	const char *most = getenv("URLMILL_MOST_BYTES");
	most_bytes = most ? strtoul(most, NULL, 10) : array_bytes;
	if ((*why = struct_schema(&all))) return false;
	duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR), parts = type_of(all);
	bool ok = parts && add_parse(connection, parts);
	ok = add(connection, scalar("url_param", 2, text, param)) && ok;
	ok = add(connection, scalar("url_canonical", 2, text, canonical)) && ok;
	ok = add(connection, scalar("urlmill_version", 0, text, version)) && ok;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		const struct function *f = &functions[i];
		duckdb_logical_type result = f->column < STRUCT_COLUMNS ? type_of(all->children[f->column]) : duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
		duckdb_scalar_function made = scalar(f->name, 1, result, one_column);
		duckdb_scalar_function_set_extra_info(made, (void *)f, NULL);
		ok = add(connection, made) && ok;
		duckdb_destroy_logical_type(&result);
	}
	duckdb_destroy_logical_type(&text);
	duckdb_destroy_logical_type(&parts);
	if (!ok) *why = say("urlmill: DuckDB does not take the functions; is there a function with the name of one already?");
	return ok;
}
