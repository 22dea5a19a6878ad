// Builds dist: the launcher, the program in chunks that are loaded on first use, small programs beside it, ready texts.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'rolldown';

// Built beside dist and then renamed, so that a program that is started meanwhile finds a complete one.
const out = `dist.${process.pid}`;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Modules that a package loads, and what it gets in their place. The figures are of a bare start of Node. */
const EMPTY = 'module.exports = {};';
const replacements = [
  // Only for subcommands that are programs of their own, which we have none of; it loads node:net: 0.15 where no call is made.
  { package: 'commander', module: /^node:child_process$/, code: EMPTY },
  // Off by default; it would load node:http2 and node:tls: 0.2.
  { package: 'undici', module: /[/]client-h2\.js$/, code: EMPTY },
  // Only for bodies that are FormData: 46 kB, which every call would read.
  { package: 'undici', module: /[/]web[/]fetch[/]body\.js$/, code: EMPTY },
  // Only for a limit that we set ourselves, and for bodies that are requests of node:http: 0.2.
  { package: 'undici', module: /^node:http$/, code: EMPTY },
  // A failed node:assert reads the source of its caller and parses it for a message: three seconds of processor time for
  // undici in one line (test/api/http/response-head.test.ts). An answer of the service must not bring that about.
  {
    package: 'undici',
    module: /^node:assert$/,
    code: `module.exports = (ok, message = 'an assertion of undici failed') => {
      if (!ok) throw Object.assign(new Error(message), { code: 'ERR_ASSERTION' });
    };`,
  },
  // It has a string-width of 2021, which takes newer emoji for one column and moves what follows: ours is right.
  {
    package: 'cli-table3',
    module: /^string-width$/,
    code: "module.exports = require('string-width').default;",
  },
  // Only for a schema of the settings, which we check ourselves: 0.4 where settings are written.
  { package: 'conf', module: /^ajv/, code: EMPTY },
  // Bundled, so that a start need not look for its scripts and read them; its native file stays in its folder: 0.15.
  {
    package: '@photostructure',
    module: /^node-gyp-build$/,
    code: `const { createRequire } = require('node:module');
    const { dirname } = require('node:path');
    const load = require('node-gyp-build');
    const manifest = () => createRequire(__filename).resolve('@photostructure/sqlite/package.json');
    module.exports = () => load(dirname(manifest()));`,
  },
  // A validator for answers of a person, which we check ourselves: 160 kB, as much as all the rest of it.
  {
    package: '@modelcontextprotocol',
    module: /[/]_shims$/,
    code: `module.exports.process = process;
    module.exports.DefaultJsonSchemaValidator = class {
      getValidator() {
        return (data) => ({ valid: true, data });
      }
    };`,
  },
];
const replace = {
  name: 'replace',
  resolveId(id, importer = '') {
    const [, name] = /^.*node_modules[\\/]([^\\/]+)/.exec(importer) ?? [];
    const found = replacements.findIndex((each) => each.package === name && each.module.test(id));
    return found === -1 ? undefined : `\0replacement-${found}.cjs`;
  },
  load(id) {
    const [, found] = /^\0replacement-(\d+)/.exec(id) ?? [];
    return replacements[found]?.code;
  },
};

/** What is always loaded at a start, in one file with it. */
const start = { name: 'start', tags: ['$initial'], priority: 9 };
/**
 * The program's other chunks. Rolldown makes one for each dynamic import and for what several of them share; these
 * groups join what the commands that are run most need at once. A module in a group is run with all others of it, so
 * that one that loads a slow module of Node must not get into `common`.
 */
const groups = [
  start,
  { name: 'driver', test: /[\\/]node_modules[\\/](@photostructure|node-gyp-build)[\\/]/, priority: 4 },
  { name: 'protocol', test: /[\\/]node_modules[\\/](@modelcontextprotocol|zod)[\\/]/, priority: 4 },
  { name: 'common', test: /[\\/]src[\\/](?!ledger|lib[\\/]sqlite)/, minShareCount: 24, priority: 3 },
  {
    name: 'call',
    test: /[\\/](api[\\/]http[\\/](transport|pool)|commands[\\/]balance)\.ts$/,
    priority: 2,
  },
  {
    // What a search needs of it: that opens no ledger.
    name: 'sqlite',
    test: /[\\/](lib[\\/]sqlite|ui[\\/]pager|flows[\\/]bulk)\.ts$/,
    priority: 2,
  },
  {
    name: 'ledger',
    test: /[\\/](ledger[\\/](open|notes|stores[\\/]backups)|commands[\\/]files?)\.ts$/,
    priority: 1,
  },
];

/** CommonJS, because Node starts it faster than ES modules. */
async function bundle(input, { define = {}, ...output }) {
  const made = await build({
    input,
    platform: 'node',
    external: ['./complete.js'],
    plugins: [replace],
    transform: { target: 'node20', define: { STENO_VERSION: JSON.stringify(version), ...define } },
    checks: { ineffectiveDynamicImport: false },
    write: false,
    output: {
      format: 'cjs',
      dir: out,
      // With the names of functions and classes, where stack traces are ours.
      minify: {
        compress: true,
        mangle: { keepNames: 'sourcemap' in output },
        codegen: { removeWhitespace: true },
      },
      comments: false,
      dynamicImportInCjs: false,
      sourcemapExcludeSources: true,
      ...output,
    },
  });
  const chunks = made.output.filter(({ type }) => type === 'chunk');
  for (const { fileName, code } of chunks) writeFileSync(join(out, fileName), code);
  return chunks;
}

const isOurs = ({ moduleIds }) => moduleIds.some((id) => id.startsWith(resolve('src')));

/** What `steno ui` serves: a page for browsers, with its styles and its icon. */
async function bundleClient() {
  const from = 'src/pages/client';
  const made = await build({
    input: { app: join(from, 'main.ts') },
    platform: 'browser',
    transform: { target: 'es2022' },
    write: false,
    output: { format: 'esm', minify: true, comments: false, codeSplitting: false },
  });
  mkdirSync(join(out, 'ui'));
  const [app] = made.output;
  writeFileSync(join(out, 'ui', 'app.js'), app.code);
  const styles = readFileSync(join(from, 'app.css'), 'utf8');
  const shorter = styles.replace(/\/\*[^*]*\*\//g, '').replace(/\n\s*/g, '\n');
  writeFileSync(join(out, 'ui', 'app.css'), shorter.trim());
  for (const name of ['index.html', 'favicon.svg'])
    writeFileSync(join(out, 'ui', name), readFileSync(join(from, name)));
  return app;
}

/** For the stack traces of --debug: the maps are as large as the program, but compressed a fifth of it. */
function writeMaps(chunks) {
  const text = JSON.stringify(
    // The names of functions stand in the code.
    Object.fromEntries(chunks.filter(isOurs).map(({ fileName, map }) => [fileName, { ...map, names: [] }])),
  );
  writeFileSync(join(out, 'maps.json.br'), brotliCompressSync(text));
}

/** The licence texts of every package that went into the bundle; packages with the same text share it. */
function licenses(modules) {
  const folders = modules.flatMap((id) => id.match(/^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/) ?? []);
  const namesByText = new Map();
  for (const folder of [...new Set(folders)].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder)
      .sort()
      .find((each) => /^(licen[cs]e|readme)/i.test(each));
    // A package may have its licence at the end of its README.
    const text = readFileSync(join(folder, file), 'utf8')
      .split(/^#+ licen[cs]e.*$/im)
      .at(-1)
      .trim();
    namesByText.set(text, [...(namesByText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...namesByText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return parts.join(`\n${'-'.repeat(72)}\n`);
}

/** Tells this build from others. */
function buildId() {
  const hash = createHash('sha256');
  for (const name of readdirSync(out).sort()) hash.update(readFileSync(join(out, name)));
  return hash.digest('hex').slice(0, 16);
}

mkdirSync(out);
const alone = { codeSplitting: false };
const program = await bundle(
  { steno: 'src/cli/process.ts' },
  { codeSplitting: { groups }, chunkFileNames: '[name].js', sourcemap: 'hidden' },
);
writeMaps(program);
const chunks = await Promise.all([
  // A program of its own, in one file but for what few need.
  bundle(
    { complete: 'src/start/complete.ts' },
    { codeSplitting: { groups: [start] }, chunkFileNames: 'complete-[name].js' },
  ),
  bundle({ backup: 'src/ledger/stores/backup-process.ts' }, alone),
  bundle({ reader: 'src/pages/reader.ts' }, alone),
  bundle({ generate: 'src/cli/generate.ts' }, alone),
]);
await bundle(
  { launch: 'src/start/launch.ts' },
  { ...alone, define: { STENO_BUILD: JSON.stringify(buildId()) } },
);
writeFileSync(join(out, 'package.json'), '{"type":"commonjs"}\n');
const modules = [...program, ...chunks.flat(), await bundleClient()].flatMap(({ moduleIds }) => moduleIds);
writeFileSync(join(out, 'LICENSES.txt'), licenses(modules));
cpSync('src/help', join(out, 'help'), { recursive: true });
execFileSync(process.execPath, [join(out, 'generate.js'), 'texts', out], { stdio: 'inherit' });
if (existsSync('dist')) renameSync('dist', `${out}.old`);
renameSync(out, 'dist');
rmSync(`${out}.old`, { recursive: true, force: true });
