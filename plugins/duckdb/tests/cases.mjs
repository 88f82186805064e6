// Runs the statements of standard input, which ";" ends, in DuckDB's package for Node.js, and prints the last one's first value.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { DuckDBInstance } = createRequire(process.argv[2] + "/")("@duckdb/node-api");
const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
const connection = await instance.connect();
let last;
for (const statement of readFileSync(0, "utf8").split(/;\n/)) {
  if (statement.trim()) last = await connection.runAndReadAll(statement);
}
console.log(last.getRows()[0][0]);
