/* urlmill in DuckDB: a loadable extension by DuckDB's stable C API, with the C library linked in. */
#define DUCKDB_EXTENSION_NAME urlmill
#include "extension.h"

#include <stdlib.h>

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info, struct duckdb_extension_access *access) {
	fault why = NULL;
	if (register_scalars(connection, &why) && register_read(connection, &why)) return true;
	access->set_error(info, why ? why : "urlmill: out of memory");
	free(why);
	return false;
}
