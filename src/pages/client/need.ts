/** What a file needs a person for: why, what to do, and the command line that does it. */
import { shellWord } from '../../lib/text.ts';
import { el } from './el.ts';
import * as parts from './parts.ts';
import type { FileDocument } from './types.ts';

const { span } = el;

interface Need {
  readonly why: string;
  readonly line: string;
}

export function needOf(file: FileDocument): Need | undefined {
  const { audiofile, ended, hold, late, order, state } = file;
  const line = `file ${shellWord(audiofile)}`;
  if (!ended && (hold || state === 'On Hold')) return needOfHeld(file, line);
  if (ended === 'unfinished' && state !== 'Refunded') {
    const why = state === 'Error' ? 'It could not be transcribed' : `It ended as ${state}`;
    return { why: `${why}: order it again if you still need it.`, line: againLine(file) ?? line };
  }
  const whom = order ? `order ${order.slice(0, 60)}` : 'it';
  const why = `Past the target of its SKU: ask the service about ${whom} if its state does not change.`;
  return late ? { why, line } : undefined;
}

function needOfHeld({ hold, order }: FileDocument, line: string): Need {
  if (parts.about.value?.sandbox && order)
    return { why: 'On hold: release its order.', line: `sandbox release ${shellWord(order)}` };
  if (hold === 'billing')
    return {
      why: 'On hold: the account has a past-due balance. Pay it, and work starts by itself.',
      line: 'balance',
    };
  const reason = hold ? ` (${hold.slice(0, 100)})` : '';
  return { why: `On hold${reason}: ask the service to release it.`, line };
}

function againLine({ source, url, skus }: FileDocument): string | undefined {
  const audio = source || url;
  if (!audio || skus.length === 0) return undefined;
  return `order ${shellWord(audio)} --sku ${skus.map(shellWord).join(' ')} --skip-ordered --retry-ended`;
}

/** The sentence, and its command line to copy. */
export function needText(file: FileDocument) {
  const need = needOf(file);
  return need && span('need', span('why', need.why), ' ', parts.command(need.line));
}
