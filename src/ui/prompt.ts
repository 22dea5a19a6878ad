import { createInterface } from 'node:readline/promises';
import { StenoError } from '../lib/errors.ts';
import type { Output } from './output.ts';

type Input = NodeJS.ReadStream;

const interrupted = (): StenoError => new StenoError('interrupted', 'interrupted');

/** Asks for a line that is not shown while it is typed. */
export async function askHidden(question: string, input: Input, out: Output): Promise<string> {
  out.ask(question);
  input.setRawMode(true);
  input.setEncoding('utf8');
  let typed = '';
  try {
    for await (const chunk of input) {
      for (const key of String(chunk)) {
        if (key === '\u0003') throw interrupted();
        if (key === '\r' || key === '\n' || key === '\u0004') return typed;
        if (key === '\u007f' || key === '\b') typed = typed.slice(0, -1);
        else if (key === '\u0015') typed = '';
        else if (key >= ' ') typed += key;
      }
    }
    return typed;
  } finally {
    input.setRawMode(false);
    input.destroy();
    out.ask('\n');
  }
}

export async function askLine(question: string, input: Input, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input, output: process.stderr });
  lines.on('SIGINT', () => process.emit('SIGINT'));
  try {
    // A question has no answer where the input ends: that counts as an empty one.
    const ended = new Promise<string>((done) => lines.once('close', () => done('')));
    return (await Promise.race([lines.question(question, { signal }), ended])).trim();
  } catch (error) {
    throw signal.aborted ? interrupted() : error;
  } finally {
    lines.close();
  }
}

export async function confirm(question: string, input: Input, signal: AbortSignal): Promise<boolean> {
  return /^y(es)?$/i.test(await askLine(`${question} [y/N] `, input, signal));
}
