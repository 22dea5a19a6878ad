/**
 * The first file that runs.
 *
 * Speed: help, version and the catalogue for scripts are texts that the build has made; for them nothing else is
 * loaded. `--help` takes a tenth more than a bare start of Node, and without this 3.3 times as long. Completion is a small program of
 * its own. To take this out, let bin/steno.js load dist/steno.js.
 */

import { fstatSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { usesColour } from '../lib/colour.ts';
import { errorCode, errorMessage } from '../lib/errors.ts';
import { boldTitles } from '../lib/titles.ts';

const catalogCommands = new Set(['skus', 'states', 'formats']);
const catalogForms = new Set(['--tabs', '--json', '--csv', '--quiet']);

/** The ready text that answers this command line, if there is one. */
function readyText(argv: readonly string[]): string | undefined {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return `${STENO_VERSION}\n`;
  const name = textName(argv);
  if (name === undefined || !/^[a-z -]+$/.test(name)) return undefined;
  try {
    return readFileSync(join(__dirname, 'text', `${name}.txt`), 'utf8');
  } catch {
    return undefined;
  }
}

/** The file of the text: a help page, or a table of the catalogue for a script. */
function textName(argv: readonly string[]): string | undefined {
  const page = pageWords(argv);
  if (page) return isNarrow() ? undefined : ['steno', ...page].join(' ');
  const [command = '', form = '--tabs'] = argv;
  const isCatalog = argv.length <= 2 && catalogCommands.has(command) && catalogForms.has(form);
  return isCatalog && !isOnTerminal() ? `${command} ${form}` : undefined;
}

/** A page of help on a terminal has bold headings, where colours are wanted. Consoles of Windows may not know them. */
function styled(text: string, argv: readonly string[]): string {
  if (!pageWords(argv) || !isOnTerminal() || isNull() || process.platform === 'win32') return text;
  const stdout = { noColor: false, env: process.env, isData: true };
  return usesColour({ isTTY: true }, stdout) ? boldTitles(text) : text;
}

/** The words of a command whose help is asked for: `order --help` or `help order`. */
function pageWords(argv: readonly string[]): readonly string[] | undefined {
  const last = argv.at(-1) ?? '--help';
  if (last === '--help' || last === '-h') return argv.slice(0, -1);
  return argv[0] === 'help' ? argv.slice(1) : undefined;
}

/** The program lays out help for a narrow terminal. Only there does this load node:tty, which takes 2.5 ms. */
const isNarrow = (): boolean => isOnTerminal() && !isNull() && (process.stdout.columns ?? WIDTH) < WIDTH;

/** The width that the ready texts are made for. */
const WIDTH = 80;

/** /dev/null is a character device as a terminal is. */
function isNull(): boolean {
  const { rdev } = statSync('/dev/null', { throwIfNoEntry: false }) ?? {};
  return fstatSync(1).rdev === rdev;
}

/** A good guess: node:tty would know, but takes 2.5 ms to load. */
const isOnTerminal = (): boolean => fstatSync(1).isCharacterDevice();

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

/** For stack traces with the files and lines of src. Without the code cache: scripts of node:vm get no source maps. */
function loadWithSourceMaps(program: string): void {
  process.setSourceMapsEnabled(true);
  require(program);
}

function loadWithCodeCache(program: string): void {
  const { load, save } = require('./code-cache.ts') as typeof import('./code-cache.ts');
  load(program);
  process.once('exit', save);
}

function loadProgram(argv: readonly string[]): void {
  const load = argv.includes('--debug') ? loadWithSourceMaps : loadWithCodeCache;
  load(join(__dirname, 'steno.js'));
}

const argv = process.argv.slice(2);
const text = readyText(argv);
if (text !== undefined) print(styled(text, argv));
else if (argv[0] === '__complete') require('./complete.js');
else loadProgram(argv);
