/* What was parsed is kept for a thread, so that several functions of one column parse it once.
 *
 * DuckDB calls each function of a query by itself, with the same vector. Where the vector lies says nothing: vectors are used again, and
 * the same strings may come in another one. So the texts are compared, which costs a tenth of parsing them, and makes no mistake.
 *
 * Which columns the next functions will want is not known when the first one asks. A slot remembers which were asked of the texts that it
 * had before, and when it is filled anew for the same first column, all of them are parsed at once. */
#include "extension.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_names[COLUMNS] = {
	"href", "scheme", "has_username", "host", "port", "origin", "registrable_domain", "public_suffix", "path", "query", "params", "fragment", "url_error",
	"url_error_pos", "surt_key", "canonical_url",
};

const char *const form_names[FORMS] = {"", "strict", "dedupe", "surt-ia", "surt-cc"};

/* Processors are made once for the columns and the form, and never freed. */

struct processor {
	uint32_t columns;
	int form;
	bool bases;
	struct urlmill_processor *processor;
	struct ArrowSchema schema; /* of what it makes */
};

enum { most_processors = 64 };

static struct processor processors[most_processors];
static int processor_count;
static pthread_mutex_t processors_lock = PTHREAD_MUTEX_INITIALIZER;

static void released_schema(struct ArrowSchema *s) { s->release = NULL; }

static struct ArrowSchema text_schema = {.format = "u", .name = "url", .flags = ARROW_FLAG_NULLABLE, .release = released_schema};
static struct ArrowSchema base_schema = {.format = "u", .name = "base", .flags = ARROW_FLAG_NULLABLE, .release = released_schema};
static struct ArrowSchema *pair[] = {&text_schema, &base_schema};
static struct ArrowSchema pair_schema = {.format = "+s", .name = "", .n_children = 2, .children = pair, .release = released_schema};

static fault make(struct processor *p) {
	const char *list = getenv("URLMILL_PSL");
	char *options = malloc(1024 + (list ? 6 * strlen(list) : 0));
	if (!options) return say("urlmill: out of memory");
	char *to = options + sprintf(options, "{\"include\": [");
	for (int c = 0; c < COLUMNS; c++) {
		if (!(p->columns & BIT(c))) continue;
		if (to[-1] == '"') *to++ = ',';
		to = json_text(to, column_names[c]);
	}
	*to++ = ']';
	if (p->form) to += sprintf(to, ", \"canonical\": {\"form\": \"%s\"}", form_names[p->form]);
	if (p->bases) to += sprintf(to, ", \"url\": \"url\", \"base\": \"base\"");
	if (list && *list) {
		to += sprintf(to, ", \"psl\": ");
		to = json_text(to, list);
	}
	strcpy(to, "}");
	char *error = NULL;
	int code = urlmill_processor_new(options, &p->processor, &error);
	if (!code) code = urlmill_array_schema(p->processor, p->bases ? &pair_schema : &text_schema, &p->schema, &error);
	free(options);
	if (!code) return NULL;
	fault why = error ? say("%s%s", list && *list ? "URLMILL_PSL: " : "", error) : say("urlmill: error %d", code);
	urlmill_free(error);
	urlmill_processor_free(p->processor);
	return why;
}

static struct processor *find(uint32_t columns, int form, bool bases) {
	struct processor *p = processors, *end = processors + processor_count;
	while (p < end && (p->columns != columns || p->form != form || p->bases != bases)) p++;
	return p;
}

/* processor_for returns one that makes these columns alone; where there are very many already and none of them does, one that makes all. */
static fault processor_for(uint32_t columns, int form, bool bases, const struct processor **out) {
	fault why = NULL;
	pthread_mutex_lock(&processors_lock);
	struct processor *p = find(columns, form, bases);
	if (p == processors + processor_count && processor_count >= most_processors - FORMS - 1) {
		columns = (BIT(STRUCT_COLUMNS) - 1) | (bases ? 0 : BIT(SURT_KEY)) | (form ? BIT(CANONICAL_URL) : 0);
		p = find(columns, form, bases);
	}
	if (p == processors + processor_count) {
		memset(p, 0, sizeof *p);
		p->columns = columns, p->form = form, p->bases = bases;
		why = make(p);
		if (!why) processor_count++;
	}
	pthread_mutex_unlock(&processors_lock);
	*out = p;
	return why;
}

fault struct_schema(const struct ArrowSchema **out) {
	const struct processor *p;
	fault why = processor_for(BIT(STRUCT_COLUMNS) - 1, 0, false, &p);
	if (why) return why;
	*out = &p->schema;
	/* A field that the functions do not write would be memory that nobody has written. */
	return p->schema.n_children == STRUCT_COLUMNS ? NULL : say("urlmill: the struct has %lld fields, not %d", (long long)p->schema.n_children, STRUCT_COLUMNS);
}

/* Threads. */

struct slot {
	struct text urls;
	const struct processor *processor; /* NULL where nothing is parsed */
	struct ArrowArray array;
	uint32_t asked; /* columns that were asked of these texts */
	int first;      /* the first of them */
	uint64_t used;
};

enum { slots = 4 };

struct thread {
	struct slot slot[slots];
	struct text bases;
	struct slot with_bases;
	uint64_t clock;
};

static void clear(struct slot *s) {
	if (s->array.release) SPENT(spent_library, s->array.release(&s->array));
	s->processor = NULL;
}

static void thread_free(void *arg) {
	struct thread *t = arg;
	for (int i = 0; i < slots; i++) clear(&t->slot[i]), text_free(&t->slot[i].urls);
	clear(&t->with_bases);
	text_free(&t->with_bases.urls);
	text_free(&t->bases);
	free(t);
}

static pthread_key_t key;
static int key_fault;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_key(void) { key_fault = pthread_key_create(&key, thread_free); }

static struct thread *this_thread(void) {
	if (pthread_once(&once, make_key) || key_fault) return NULL;
	struct thread *t = pthread_getspecific(key);
	if (t) return t;
	t = calloc(1, sizeof *t);
	if (t && pthread_setspecific(key, t)) free(t), t = NULL;
	return t;
}

/* fill parses the texts of s by a processor. */
static fault fill(struct slot *s, const struct processor *p, const struct ArrowSchema *schema, struct ArrowArray *in) {
	char *error = NULL;
	clear(s);
	int code;
	SPENT(spent_library, code = urlmill_parse_array(p->processor, schema, in, &s->array, &error));
	if (!code) {
		s->processor = p;
		return NULL;
	}
	s->urls.rows = 0;
	if (code == E2BIG) {
		urlmill_free(error);
		return too_large;
	}
	fault why = error ? say("%s", error) : say("urlmill: error %d", code);
	urlmill_free(error);
	return why;
}

/* slot_for returns the slot with the texts of a vector, or the one that is to have them, which is the oldest that began with the same
 * column, or the oldest. */
static struct slot *slot_for(struct thread *t, duckdb_vector urls, idx_t from, idx_t rows, int first, int form) {
	struct slot *oldest = &t->slot[0], *alike = NULL;
	for (struct slot *s = t->slot; s < t->slot + slots; s++) {
		bool fits = s->processor && (!form || !s->processor->form || s->processor->form == form);
		if (fits && text_is(&s->urls, urls, from, rows)) return s;
		if (s->used < oldest->used) oldest = s;
		if (s->first == first && s->used && (!alike || s->used < alike->used)) alike = s;
	}
	struct slot *s = alike ? alike : oldest;
	if (!alike) s->asked = 0;
	clear(s);
	return s;
}

fault parse_shared(duckdb_vector urls, idx_t from, idx_t rows, uint32_t columns, int form, struct parsed *out) {
	struct thread *t = this_thread();
	if (!t) return say("urlmill: out of memory");
	int first = __builtin_ctz(columns);
	if (form) columns |= BIT(CANONICAL_URL);
	struct slot *s = slot_for(t, urls, from, rows, first, form);
	fault why = NULL;
	s->used = ++t->clock;
	if (!s->processor) {
		uint32_t wanted = columns | s->asked;
		if (!form) wanted &= ~BIT(CANONICAL_URL); /* which of the forms is not remembered */
		s->asked = columns;
		s->first = first;
		why = text_take(&s->urls, urls, from, rows);
		columns = wanted;
	} else {
		s->asked |= columns;
	}
	const struct processor *p = s->processor;
	if (!why && (!p || (p->columns & columns) != columns)) {
		struct ArrowArray in;
		if (p) columns |= p->columns;
		if (!form && p) form = p->form;
		why = processor_for(columns, form, false, &p);
		text_array(&s->urls, &in);
		if (!why) why = fill(s, p, &text_schema, &in);
	}
	if (why) return why;
	*out = (struct parsed){&p->schema, &s->array, duckdb_vector_get_validity(urls), p->columns};
	return NULL;
}

fault parse_with_bases(duckdb_vector urls, duckdb_vector bases, idx_t from, idx_t rows, struct parsed *out) {
	struct thread *t = this_thread();
	if (!t) return say("urlmill: out of memory");
	struct slot *s = &t->with_bases;
	const struct processor *p;
	fault why = processor_for(BIT(STRUCT_COLUMNS) - 1, 0, true, &p);
	clear(s);
	if (!why) why = text_take(&s->urls, urls, from, rows);
	if (!why) why = text_take(&t->bases, bases, from, rows);
	if (why) return why;
	struct ArrowArray url, base, *children[] = {&url, &base};
	const void *none[] = {NULL};
	text_array(&s->urls, &url);
	text_array(&t->bases, &base);
	struct ArrowArray in = {.length = (int64_t)rows, .n_buffers = 1, .buffers = none, .n_children = 2, .children = children, .release = url.release};
	why = fill(s, p, &pair_schema, &in);
	if (why) return why;
	*out = (struct parsed){&p->schema, &s->array, duckdb_vector_get_validity(urls), p->columns};
	return NULL;
}
