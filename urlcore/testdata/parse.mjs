// Reads a JSON array [input, base] a line, base null or a string, and writes what the platform's own URL class
// makes of it: an array of attributes, or null for a failure.
import { createInterface } from 'node:readline';

const attributes = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const lines = [];
for await (const line of createInterface({ input: process.stdin })) {
  const [input, base] = JSON.parse(line);
  try {
    const url = base === null ? new URL(input) : new URL(input, base);
    lines.push(JSON.stringify(attributes.map((name) => url[name])));
  } catch {
    lines.push('null');
  }
}
process.stdout.write(lines.join('\n') + '\n');
