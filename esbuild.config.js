// Builds dist: the launcher, the program, one file for each heavy part that few commands need, and ready texts.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build, transform } from 'esbuild';

// Built beside dist and then renamed, so that a program that is started meanwhile finds a complete one.
const out = `dist.${process.pid}`;

/** The digits of source maps. */
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Files of their own, loaded on first use; a module of ours in this list must not import others of ours. */
const parts = {
  undici: './src/api/http/undici.ts',
  conf: 'conf',
  ora: 'ora',
  chalk: 'chalk',
  width: 'string-width',
  csv: 'csv-parse/sync',
  postgres: 'pg/lib/client.js',
  sax: 'sax',
};

const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined;
      const found = Object.entries(parts).find(([, entry]) => path === entry || path.endsWith(ours(entry)));
      return found && { path: `./${found[0]}.js`, external: true };
    });
  },
};
/** Modules that packages load but we never use: each is slow to load. */
const unused = {
  name: 'unused',
  setup({ onResolve, onLoad }) {
    const none = { path: 'none', namespace: 'unused' };
    // commander uses it only for subcommands that are separate programs; we have none.
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      /[\\/]commander[\\/]/.test(importer) ? none : undefined,
    );
    // undici's HTTP/2 is off by default, and would load node:http2 and node:tls.
    onResolve({ filter: /[/]client-h2(\.js)?$/ }, () => none);
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  },
};
/** What migrations do beyond SQL: completion applies none, and needs their names alone. */
const unmigrated = {
  name: 'unmigrated',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ importer, kind }) =>
      kind === 'dynamic-import' && /[\\/]ledger[\\/]stores[\\/]schema\.ts$/.test(importer)
        ? { path: 'none', namespace: 'unused' }
        : undefined,
    );
  },
};
/**
 * A failed node:assert reads the source of its caller and parses it for a message: six seconds of processor time for
 * undici in one line. An answer of the service must not bring that about; not loading it also saves 0.7 ms a start.
 */
const shortAssert = {
  name: 'short-assert',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:assert$/ }, ({ importer }) =>
      /[\\/]undici[\\/]/.test(importer) ? { path: 'assert', namespace: 'short-assert' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'short-assert' }, () => ({
      contents: `module.exports = (ok, message = 'an assertion of undici failed') => {
        if (!ok) throw Object.assign(new Error(message), { code: 'ERR_ASSERTION' });
      };`,
    }));
  },
};
const ours = (entry) => (entry.endsWith('.ts') ? entry.slice(entry.lastIndexOf('/')) : '\0');

// For Node the default export of a CommonJS file is all of module.exports.
const defaultFirst =
  'if(module.exports.__esModule&&module.exports.default)module.exports=Object.assign(module.exports.default,module.exports);';

// CommonJS, because Node starts it faster than ESM; one file, because each further file costs a look-up.
const options = {
  outdir: out,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  supported: { 'dynamic-import': false },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  metafile: true,
  external: ['@photostructure/sqlite'],
  define: { STENO_VERSION: JSON.stringify(version) },
};

/** Nobody reads their stack traces: a third less to install, and to load. */
const shortNames = { minifyIdentifiers: true, keepNames: true };

const partOptions = { ...options, plugins: [unused, shortAssert], footer: { js: defaultFirst } };
const { undici, ...packages } = parts;

/** What the program loads at its start, and what the commands that are run most load after it. */
const hotEntries = [
  'src/cli/process.ts',
  'src/commands/balance.ts',
  'src/commands/file.ts',
  'src/commands/files.ts',
  'src/ledger/open.ts',
  'src/ledger/stores/backups.ts',
  'src/ledger/notes.ts',
  'src/api/http/transport.ts',
  'src/api/http/pool.ts',
];

const results = await Promise.all([
  build({
    ...options,
    entryPoints: { steno: 'src/cli/process.ts' },
    plugins: [apart, unused],
    // For the stack traces of --debug: file names and lines, without the sources themselves.
    sourcemap: 'external',
    sourcesContent: false,
    // The lines that name the modules are needed to tell them apart.
    minifyWhitespace: false,
    write: false,
  }),
  build({
    ...options,
    entryPoints: { complete: 'src/start/complete.ts' },
    plugins: [apart, unmigrated, unused],
    // It is compiled at every start: the shorter, the sooner.
    minifyIdentifiers: true,
  }),
  build({
    ...options,
    entryPoints: {
      backup: 'src/ledger/stores/backup-process.ts',
      generate: 'src/cli/generate.ts',
    },
    plugins: [apart, unused],
    ...shortNames,
  }),
  build({ ...partOptions, entryPoints: { undici } }),
  build({ ...partOptions, entryPoints: packages, ...shortNames }),
]);
await writeProgram(results[0]);
for (const name of readdirSync(out).filter((file) => file.endsWith('.js'))) makeAscii(`${out}/${name}`);
const hash = createHash('sha256');
for (const name of readdirSync(out).sort()) hash.update(readFileSync(`${out}/${name}`));
options.define.STENO_BUILD = JSON.stringify(hash.digest('hex').slice(0, 16));
await build({
  ...options,
  entryPoints: { launch: 'src/start/launch.ts' },
  external: ['./*.js'],
});
writeFileSync(`${out}/package.json`, '{"type":"commonjs"}\n');
writeFileSync(
  `${out}/LICENSES.txt`,
  licenses(results.flatMap(({ metafile }) => Object.keys(metafile.inputs))),
);
execFileSync(process.execPath, [`${out}/generate.js`, 'texts', out], { stdio: 'inherit' });
if (existsSync('dist')) renameSync('dist', `${out}.old`);
renameSync(out, 'dist');
rmSync(`${out}.old`, { recursive: true, force: true });

/**
 * Writes other characters as escapes. esbuild does so in strings; what it leaves stands in regular expressions. The
 * program is read as one byte a character, which takes 0.3 ms where UTF-8 takes 4.7.
 */
function makeAscii(file) {
  const text = readFileSync(file, 'utf8');
  const escaped = text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== text) writeFileSync(file, escaped);
}

/** The licence texts of every package that went into the bundle. */
function licenses(inputs) {
  const require = createRequire(import.meta.url);
  const folders = new Set(inputs.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = require(`./${folder}/package.json`);
      return `${name} ${version} (${license})\n\n${text(folder)}`;
    })
    .join(`\n${'-'.repeat(72)}\n`);
}

/** From the file of its own, or from the end of its README where it has none. */
function text(folder) {
  const files = readdirSync(folder);
  const own = files.find((name) => /^licen[cs]e/i.test(name));
  if (own) return readFileSync(`${folder}/${own}`, 'utf8');
  const readme = files.find((name) => /^readme/i.test(name));
  const [, found] = readme ? readFileSync(`${folder}/${readme}`, 'utf8').split(/^#+ licen[cs]e.*$/im) : [];
  if (!found?.trim()) throw new Error(`${folder} has no licence text, which we must ship`);
  return found.trimStart();
}

/** The source map with one entry for each line of the sources: a stack trace needs no more, and it is a third as large. */
function linesOnly(text) {
  const map = JSON.parse(text);
  // Column, source, line and column there, name: each relative to the entry before; the column to that of its line.
  const [from, to] = [newPosition(), newPosition()];
  const entries = (line) => {
    from[0] = 0;
    to[0] = 0;
    let kept;
    return line
      .split(',')
      .filter(Boolean)
      .flatMap((segment) => {
        readNumbers(segment).forEach((step, at) => {
          from[at] += step;
        });
        const place = `${from[1]}:${from[2]}`;
        if (place === kept) return [];
        kept = place;
        const steps = [0, 1, 2, 3].map((at) => from[at] - to[at]);
        from.slice(0, 4).forEach((value, at) => {
          to[at] = value;
        });
        return [steps.map(writeNumber).join('')];
      })
      .join(',');
  };
  return JSON.stringify({ ...map, names: [], mappings: map.mappings.split(';').map(entries).join(';') });
}

/**
 * Writes the program with all modules that the hot ones do not need in one function, which is called when the first of
 * them is imported. Until then it is one thing to V8, where the code cache of every command would hold something for
 * each of their functions.
 */
async function writeProgram({ outputFiles, metafile }) {
  const [map, code] = outputFiles.map(({ text }) => text);
  const positions = readMap(JSON.parse(map).mappings);
  const hot = staticImports(metafile.inputs, hotEntries);
  const [first, cold] = [[], []];
  let lines = first;
  code.split('\n').forEach((text, at) => {
    const [, module] = /^\/\/ (.+)$/.exec(text) ?? [];
    if (metafile.inputs[module]) lines = hot.has(module) ? first : cold;
    lines.push({ text, positions: positions[at] ?? [] });
  });
  const isCold = new Set(cold.flatMap(({ text }) => /^var (\w+_exports\d*) = \{\};$/.exec(text)?.[1] ?? []));
  const used = new Map();
  for (const line of first) {
    line.text = line.text.replace(/\((init_\w+)\(\), (\w+_exports\d*)\)/g, (reference, init, exports) => {
      if (!isCold.has(exports)) return reference;
      used.set(exports, `${exports}: () => (${init}(), ${exports})`);
      return `cold().${exports}()`;
    });
  }
  refuseReferences(first, cold);
  const added = (text) => ({ text, positions: [] });
  const all = [
    ...first,
    added('var coldModules; function cold() { return coldModules ??= makeCold(); } function makeCold() {'),
    ...cold,
    added(`return { ${[...used.values()].join(', ')} }; }`),
  ];
  const merged = { ...JSON.parse(map), mappings: writeMap(all.map((line) => line.positions)) };
  const inline = Buffer.from(JSON.stringify(merged)).toString('base64');
  const text = all.map((line) => line.text).join('\n');
  const small = await transform(`${text}\n//# sourceMappingURL=data:application/json;base64,${inline}`, {
    minifyWhitespace: true,
    legalComments: 'none',
    target: options.target,
    sourcemap: 'external',
    sourcesContent: false,
  });
  writeFileSync(`${out}/steno.js`, `${small.code}//# sourceMappingURL=steno.js.map\n`);
  writeFileSync(`${out}/steno.js.map`, linesOnly(small.map));
}

/** Should esbuild write imports in another form one day, the build fails, and not some command. */
function refuseReferences(first, cold) {
  const loaders = /\b(?:init|require)_\w+(?= = __(?:esm|commonJS)\()/g;
  const names = new Set(cold.flatMap(({ text }) => text.match(loaders) ?? []));
  const used = first.flatMap(({ text }) => text.match(/\b(?:init|require)_\w+/g) ?? []);
  const wrong = used.find((name) => names.has(name));
  if (wrong || names.size === 0) throw new Error(`${wrong ?? 'no module'} is apart from those of the start`);
}

/** These modules and all that they import, but for what is imported when it is needed. */
function staticImports(inputs, entries) {
  const found = new Set();
  const add = (module) => {
    if (found.has(module) || !inputs[module]) return;
    found.add(module);
    for (const { kind, path } of inputs[module].imports) if (kind !== 'dynamic-import') add(path);
  };
  entries.forEach(add);
  return found;
}

/** The entries of each line of a source map, with absolute numbers. */
function readMap(mappings) {
  const at = newPosition();
  return mappings.split(';').map((line) => {
    at[0] = 0;
    return line
      .split(',')
      .filter(Boolean)
      .map((segment) => readNumbers(segment).map((step, place) => (at[place] += step)));
  });
}

function writeMap(lines) {
  const at = newPosition();
  const write = (entry) =>
    entry
      .map((value, place) => {
        const step = value - at[place];
        at[place] = value;
        return writeNumber(step);
      })
      .join('');
  return lines
    .map((entries) => {
      at[0] = 0;
      return entries.map(write).join(',');
    })
    .join(';');
}

function newPosition() {
  return [0, 0, 0, 0, 0];
}

/** Numbers of a source map: five bits a digit, the lowest bit of all is the sign. */
function readNumbers(text) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const digit of text) {
    const bits = BASE64.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

function writeNumber(number) {
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  let text = '';
  do {
    const bits = rest & 31;
    rest >>= 5;
    text += BASE64[rest ? bits | 32 : bits];
  } while (rest);
  return text;
}
