/**
 * The first file that runs. Help, version and the catalogue for scripts are texts made by the build: for them nothing
 * else is loaded, which makes them as fast as node itself. Words for a shell to offer come from a small program of
 * their own. To take this out, let bin/steno.js load dist/steno.js instead.
 */

import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage } from '../lib/errors.ts';

/** The name of the text that answers a line, if one does: a help page, or a table of the catalogue for a script. */
function textFor(argv: readonly string[]): string | undefined {
  const last = argv.at(-1) ?? '--help';
  if (last === '--help' || last === '-h') return ['steno', ...argv.slice(0, -1)].join(' ');
  const [word = '', form = '--tabs'] = argv;
  const forScripts = argv.length <= 2 && !onTerminal() && catalogue.has(word) && forms.has(form);
  return forScripts ? `${word} ${form}` : undefined;
}

/** node:tty would tell it more exactly, and takes longer than all the rest. */
const onTerminal = (): boolean => fstatSync(1).isCharacterDevice();

const catalogue = new Set(['skus', 'states', 'formats']);
const forms = new Set(['--tabs', '--json', '--csv', '--quiet']);

function quickText(argv: readonly string[]): string | undefined {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return `${STENO_VERSION}\n`;
  const name = textFor(argv);
  if (name === undefined || !/^[a-z -]+$/.test(name)) return undefined;
  try {
    return readFileSync(join(__dirname, 'text', `${name}.txt`), 'utf8');
  } catch {
    return undefined;
  }
}

/** A reader that left early has all that it wanted. */
function print(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EPIPE') return;
      if (code === 'EAGAIN') continue;
      process.stderr.write(`steno: can't write the output: ${errorMessage(error)}\n`);
      process.exitCode = 1;
      return;
    }
  }
}

const text = quickText(process.argv.slice(2));
if (text !== undefined) print(text);
else if (process.argv[2] === '__complete') require('./complete.js');
else {
  // Whoever lists processes sees neither a key given as a flag nor anything else of the command line.
  process.title = 'steno';
  const { keep, load } = require('./code-cache.js') as typeof import('./code-cache.ts');
  load(join(__dirname, 'steno.js'));
  process.once('exit', keep);
}
