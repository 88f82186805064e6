// Prints how many cases of the conformance files in the folder process.argv[2] Node.js passes.
import { readFileSync } from 'node:fs';
import { domainToUnicode } from 'node:url';

const dir = process.argv[2];
const read = (file) => JSON.parse(readFileSync(`${dir}/${file}`, 'utf8'));
const cases = (file) => read(file).filter((entry) => typeof entry !== 'string');
const files = {};
const count = (file, passed) => {
  files[file] ??= [0, 0];
  files[file][0] += passed ? 1 : 0;
  files[file][1]++;
};
const parse = (input, base) => {
  try {
    return base === null || base === undefined ? new URL(input) : new URL(input, base);
  } catch {
    return null;
  }
};
const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);

for (const file of ['urltestdata.json', 'urltestdata-javascript-only.json']) {
  for (const c of cases(file)) {
    const url = parse(c.input, c.base);
    count(file, c.failure ? url === null : url?.href === c.href);
  }
}
const escapes = { ':': '%3A', '/': '%2F', '?': '%3F', '#': '%23', '\\': '%5C' };
for (const file of ['toascii.json', 'IdnaTestV2.json', 'IdnaTestV2-removed.json', 'idna-bidi.json']) {
  for (const c of cases(file).filter((entry) => entry.input !== '')) {
    const host = file === 'toascii.json' ? c.input : c.input.replace(/[:/?#\\]/g, (x) => escapes[x]);
    count(file, (parse(`https://${host}/x`)?.host ?? null) === c.output);
  }
}
for (const c of cases('url-statics.json')) {
  count('url-statics.json', (c.base === null ? URL.canParse(c.url) : URL.canParse(c.url, c.base)) === c.can_parse);
}
for (const file of ['setters_tests.json', 'setters_stripping.json']) {
  for (const [attribute, list] of Object.entries(read(file)).filter(([name]) => name !== 'comment')) {
    for (const c of list) {
      const url = parse(c.href);
      try {
        url[attribute] = c.new_value;
      } catch {
        // Assignments of href throw.
      }
      count(file, url !== null && Object.entries(c.expected).every(([name, value]) => url[name] === value));
    }
  }
}
for (const c of cases('domain-to-unicode.json')) {
  count('domain-to-unicode.json', domainToUnicode(c.host) === c.output);
}
for (const c of cases('urlencoded-parser.json')) {
  count('urlencoded-parser.json', equal([...new URLSearchParams(c.input.replace(/^\?/, '??'))], c.output));
}
const units = (s) => s.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
for (const c of cases('ecma262-uri-functions.json')) {
  let got;
  try {
    got = globalThis[c.function](units(c.input));
  } catch (e) {
    got = e;
  }
  count('ecma262-uri-functions.json', c.throws ? got?.name === c.throws : got === units(c.output));
}
for (const c of cases('encoding-labels.json')) {
  let name;
  try {
    name = new TextDecoder(c.label).encoding;
  } catch {
    name = 'replacement'; // TextDecoder refuses its labels
  }
  count('encoding-labels.json', name === c.name.toLowerCase());
}
for (const c of cases('textdecoder.json')) {
  let passed = true;
  try {
    const decoder = new TextDecoder(c.label, { fatal: c.fatal, ignoreBOM: c.ignoreBOM });
    for (const step of c.steps ?? []) {
      try {
        passed &&= decoder.decode(Buffer.from(step.bytes, 'hex'), { stream: step.stream }) === step.output;
      } catch (e) {
        passed &&= e.name === step.error;
      }
    }
    passed &&= !c.constructor_error;
  } catch (e) {
    passed = e.name === c.constructor_error;
  }
  count('textdecoder.json', passed);
}
console.log(JSON.stringify({ name: `Node.js ${process.version}`, files }));
