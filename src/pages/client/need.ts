/** What a file needs a person for: why, what to do, and the command line that does it. */
import { shellWord } from '../../lib/text.ts';
import { el } from './el.ts';
import * as parts from './parts.ts';
import type { FileDocument } from './types.ts';

const { span } = el;

type Need = readonly [why: string, line: string];

function needOf(file: FileDocument): Need | undefined {
  const { audiofile, ended, hold, late, order, state } = file;
  const line = `file ${shellWord(audiofile)}`;
  if (!ended && (hold || state === 'On Hold')) return needOfHeld(file, line);
  if (ended === 'unfinished' && state !== 'Refunded') {
    const what = state === 'Error' ? 'Failed' : state;
    return [`${what}: order it again if you still need it.`, againLine(file) ?? line];
  }
  return late
    ? [`Overdue: ask the service about ${order ? `order ${order.slice(0, 60)}` : 'it'}.`, line]
    : undefined;
}

function needOfHeld({ hold, order }: FileDocument, line: string): Need {
  if (parts.about.value?.sandbox && order)
    return ['On hold: release its order.', `sandbox release ${shellWord(order)}`];
  if (hold === 'billing') return ['On hold: pay the past-due balance, and work starts by itself.', 'balance'];
  return [`On hold${hold ? ` (${hold.slice(0, 100)})` : ''}: ask the service to release it.`, line];
}

function againLine({ source, url, skus }: FileDocument): string | undefined {
  const audio = source || url;
  if (!audio || skus.length === 0) return undefined;
  return `order ${shellWord(audio)} --sku ${shellWord(skus.join(','))} --skip-ordered --retry-ended`;
}

/** The sentence, and its command line to copy. */
export function needText(file: FileDocument) {
  const [why, line] = needOf(file) ?? [];
  return line && span('need', span('why', why), ' ', parts.command(line));
}
