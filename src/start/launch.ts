/**
 * The first file that runs.
 *
 * Speed: help, version and the catalogue for scripts are texts that the build has made; for them nothing else is
 * loaded. `--help` takes a tenth more than a bare start of Node, and twice as long without this. Completion is a small
 * program of its own. To take this out, let bin/steno.js load dist/steno.js.
 */

import { fstatSync, readFileSync, statSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { usesColour } from '../lib/colour.ts';
import { errorCode, errorMessage } from '../lib/errors.ts';
import { boldTitles } from '../lib/text.ts';

const catalogCommands = new Set(['skus', 'states', 'formats']);
const catalogForms = new Set(['--tabs', '--json', '--csv', '--quiet']);

/** The ready text that answers this command line, if there is one. */
function readyText(argv: readonly string[]): string | undefined {
  if (argv.length === 1 && ['--version', '-v', '-V'].includes(argv[0] ?? '')) return `${STENO_VERSION}\n`;
  const page = pageWords(argv);
  if (page) return readyPage(['steno', ...page].join(' '));
  const [command = '', form = '--tabs'] = argv;
  const isCatalog = argv.length <= 2 && catalogCommands.has(command) && catalogForms.has(form);
  // With STENO_ALLOW, the program itself must check.
  const isFree = process.env.STENO_ALLOW === undefined && !isOnTerminal();
  return isCatalog && isFree ? readText(`${command} ${form}`) : undefined;
}

/** The words of a command whose help is asked for: `order --help` or `help order`. */
function pageWords(argv: readonly string[]): readonly string[] | undefined {
  const last = argv.at(-1) ?? '--help';
  if (last === '--help' || last === '-h') return argv.slice(0, -1);
  return argv[0] === 'help' ? argv.slice(1) : undefined;
}

function readText(name: string): string | undefined {
  try {
    return /^[a-z -]+$/.test(name) ? readFileSync(join(__dirname, 'text', `${name}.txt`), 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** A page of help on a terminal has bold headings, where colours are wanted. Consoles of Windows may not know them. */
function styled(text: string): string {
  if (process.platform === 'win32') return text;
  const stdout = { noColor: false, env: process.env, isData: true };
  return usesColour({ isTTY: true }, stdout) ? boldTitles(text) : text;
}

/** The width that the ready texts are made for. */
const WIDTH = 80;

/** On a terminal that is narrower or lower than the page, the program lays it out or opens a pager; never for the first screen. */
function readyPage(name: string): string | undefined {
  const text = readText(name);
  if (text === undefined || !isOnTerminal()) return text;
  // Loads node:tty, which takes 2.5 ms.
  const { columns = WIDTH, rows = 0 } = process.stdout;
  const isLong = name !== 'steno' && text.split('\n').length > rows;
  return columns < WIDTH || isLong ? undefined : styled(text);
}

/** A good guess, without node:tty: /dev/null is a character device as a terminal is. */
function isOnTerminal(): boolean {
  const stdout = fstatSync(1);
  return stdout.isCharacterDevice() && stdout.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
}

/** Without process.stdout, which takes 3 ms to make. */
function print(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      const code = errorCode(error);
      // EPIPE (head, less) is not an error.
      if (code === 'EPIPE') return;
      if (code === 'EAGAIN') continue;
      process.stderr.write(`steno: can't write the output: ${errorMessage(error)}\n`);
      process.exitCode = 1;
      return;
    }
  }
}

/**
 * For stack traces with the files and lines of src. Node reads a map from the end of its file; ours are compressed,
 * because they are as large as the program. Without the code cache: scripts of node:vm get no source maps.
 */
function loadWithSourceMaps(program: string): void {
  process.setSourceMapsEnabled(true);
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
  const packed = readFileSync(join(__dirname, 'maps.json.br'));
  const maps = JSON.parse(brotliDecompressSync(packed).toString()) as Readonly<Record<string, object>>;
  const { extensions } = require;
  const { '.js': loadPlain } = extensions;
  extensions['.js'] = (module, path) => {
    const map = path.startsWith(__dirname) ? maps[basename(path)] : undefined;
    if (!map) return loadPlain(module, path);
    const url = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
    const code = `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=${url}`;
    (module as NodeModule & { _compile(code: string, path: string): void })._compile(code, path);
  };
  require(program);
}

function loadWithCodeCache(program: string): void {
  const { load, save } = require('./code-cache.ts') as typeof import('./code-cache.ts');
  load(program);
  process.once('exit', save);
}

const argv = process.argv.slice(2);
const text = readyText(argv);
if (text !== undefined) print(text);
else if (argv[0] === '__complete') require('./complete.js');
else (argv.includes('--debug') ? loadWithSourceMaps : loadWithCodeCache)(join(__dirname, 'steno.js'));
