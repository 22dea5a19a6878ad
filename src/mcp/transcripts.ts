/** Transcripts as text with times: the download on this disk, or else what the service has. */
import { mostPrecise, transcriptsOnDisk } from '../flows/transcripts/on-disk.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { StenoError } from '../lib/errors.ts';
import { forTerminal } from '../lib/text.ts';
import { audioClock } from '../lib/time.ts';
import type { TranscriptText } from '../transcripts/model.ts';
import { readTranscript, readTranscriptFile } from '../transcripts/read.ts';
import { type Children, failureOf } from './children.ts';
import { betweenMarks } from './results.ts';
import { partInput } from './tools.ts';

export class Transcripts {
  readonly #children: Children;
  readonly #openLedger: () => Promise<Ledger | undefined>;
  /** Parts must be of one text. */
  #latest = { id: '', text: '' };

  constructor(children: Children, openLedger: () => Promise<Ledger | undefined>) {
    this.#children = children;
    this.#openLedger = openLedger;
  }

  /** Ends where a line does, and says where to go on. */
  async part(values: object, signal: AbortSignal): Promise<string> {
    const { id, offset, limit } = partInput.parse(values);
    const text = offset && this.#latest.id === id ? this.#latest.text : await this.#read(id, signal);
    const from = Math.min(offset, text.length);
    const end = endOfPart(text, from, limit);
    const more = end < text.length ? `continue at offset ${end}` : 'this is the end';
    const head = `Transcript ${id}, characters ${from} to ${end} of ${text.length}; ${more}`;
    return betweenMarks(head, text.slice(from, end));
  }

  async whole(values: object, signal: AbortSignal): Promise<string> {
    const { id } = partInput.parse(values);
    return betweenMarks(`Transcript ${id}`, await this.#read(id, signal));
  }

  async #read(id: string, signal: AbortSignal): Promise<string> {
    const text = (await this.#onDisk(id, signal)) ?? (await this.#ofService(id, signal));
    this.#latest = { id, text };
    return text;
  }

  /** Whatever is wrong with the download, the service has another. */
  async #onDisk(id: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const ledger = await this.#openLedger();
      const pages = ledger ? transcriptsOnDisk(ledger, { files: [id] }) : [];
      for await (const page of pages) {
        const [file] = mostPrecise(page);
        if (file) return linesOf(await readTranscriptFile(file, signal));
      }
    } catch {
      if (signal.aborted) throw new StenoError('interrupted', 'cancelled');
    }
    return undefined;
  }

  async #ofService(id: string, signal: AbortSignal): Promise<string> {
    const line = { words: ['transcript', '--format=tstxt', '--output=-'], args: [id] };
    const ran = await this.#children.run(line, signal);
    if (ran.code !== 0) throw failureOf(ran);
    return linesOf(readTranscript(Buffer.from(ran.stdout), 'tstxt', `transcript ${id}`));
  }
}

/** `[00:12:03] Ada: Welcome back.` */
const linesOf = ({ segments }: TranscriptText): string =>
  segments
    .map(({ start, speaker, text }) => {
      const time = start === undefined ? '' : `[${audioClock(start)}] `;
      return `${forTerminal(`${time}${speaker ? `${speaker}: ` : ''}${text}`)}\n`;
    })
    .join('');

/** A line longer than the part is cut, but not within a character. */
function endOfPart(text: string, from: number, limit: number): number {
  if (from + limit >= text.length) return text.length;
  const line = text.lastIndexOf('\n', from + limit - 1) + 1;
  if (line > from) return line;
  return from + limit + (/[\udc00-\udfff]/.test(text.charAt(from + limit)) ? 1 : 0);
}
