/**
 * The first file that runs. Help and version are texts made by the build: for them nothing else is loaded, which
 * makes them as fast as node itself. To take this out, let bin/steno.js load dist/steno.js instead.
 */
import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { keep, load } from './code-cache.ts';

function quickText(argv: readonly string[]): string | undefined {
  const last = argv.at(-1) ?? '--help';
  if (argv.length <= 1 && (last === '--version' || last === '-V')) return `${STENO_VERSION}\n`;
  if (last !== '--help' && last !== '-h') return undefined;
  const words = argv.slice(0, -1);
  if (!words.every((word) => /^[a-z]+$/.test(word))) return undefined;
  try {
    return readFileSync(join(__dirname, 'help', `${['steno', ...words].join(' ')}.txt`), 'utf8');
  } catch {
    return undefined;
  }
}

/** Tells whether all of it was written; a reader that left early has all that it wanted. */
function print(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return;
      if (code !== 'EAGAIN') throw error;
    }
  }
}

const text = quickText(process.argv.slice(2));
if (text === undefined) {
  load(join(__dirname, 'steno.js'));
  // Whoever is about to change a flag of V8 asks for this first.
  process.once('steno:keep-code' as 'exit', keep);
  process.once('exit', keep);
} else print(text);
