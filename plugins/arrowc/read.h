/*
 * Rows of files, for hosts that have the library linked in with the tag read, such as DuckDB's extension: not in liburlmill.so, as it
 * brings all codecs of access logs and decompressors along.
 */
#ifndef URLMILL_READ_H
#define URLMILL_READ_H

#include "urlmill.h"

/*
 * Makes *out the stream of the rows of files. options is a JSON object:
 *
 *   paths     files, directories and patterns; what they name is found at once, and has to be there
 *   codec     "lines", the default, or the name of a format of access logs
 *   nginx     format of an access log, as in nginx's log_format
 *   apache    format of an access log, as in Apache's LogFormat
 *   base_url  origin of requests whose access log does not say the host
 *   columns   columns of the rows, in their order; default: all
 *   psl       path of a Public Suffix List
 *
 * Reading begins with the first get_next, several files side by side; rows of different files come in any order. A file that cannot be
 * read to its end does not stop the others, and is the error at the end.
 *
 * Returns 0, or EINVAL with *error set to what is wrong, which the caller frees with urlmill_free, and *out released.
 */
int urlmill_read(const char *options, struct ArrowArrayStream *out, char **error);

#endif
