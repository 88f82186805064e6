// Answers questions about URLs, one a line in JSON on standard input, one answer a line on standard output.
//
// A string is text of bytes: each character up to U+00FF stands for a byte, and the bytes are decoded as UTF-8 like
// any text that comes from outside. Questions are
//
//   {"in": input, "base": base}         the attributes of new URL(input, base), null for a failure
//   {"in": input, "set": [name, value]} the attributes after an assignment, null when input is no URL
//   {"eval": expression}                its value, for the probes
//
// With a path in process.argv[2] the URL class is that module's and not the platform's.
import { createInterface } from 'node:readline';

const { URL } = process.argv[2] ? await import(process.argv[2]) : globalThis;
const attributes = [
  'href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash',
  'searchParams',
];
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const text = (bytes) => utf8.decode(Buffer.from(bytes, 'latin1'));
const read = (url) => attributes.map((name) => String(url[name]));

function answer(question) {
  if (question.eval !== undefined) {
    return evaluate(question.eval);
  }
  let url;
  try {
    url = question.base === undefined ? new URL(text(question.in)) : new URL(text(question.in), text(question.base));
  } catch {
    return null;
  }
  if (question.set) {
    try {
      url[question.set[0]] = text(question.set[1]);
    } catch {
      // A failing assignment of href throws; the attributes show that nothing has changed.
    }
  }
  return read(url);
}

function set(href, name, value) {
  const url = new URL(href);
  url[name] = value;
  return url.href;
}

function evaluate(expression) {
  try {
    return new Function('URL', 'set', `return ${expression}`)(URL, set);
  } catch {
    return null;
  }
}

// Answers are written in batches; the asker waits when too many of its questions are open.
let batch = '';
function flush() {
  process.stdout.write(batch);
  batch = '';
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (batch === '') {
    setImmediate(flush);
  }
  batch += `${JSON.stringify(answer(JSON.parse(line)))}\n`;
});
