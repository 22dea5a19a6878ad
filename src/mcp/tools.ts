/** What each tool takes, and the command line that it stands for. Terse, because a model reads all of it. */
import * as z from 'zod';
import { usage } from '../lib/errors.ts';
import type { Line } from './children.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  readonly annotations: Readonly<Record<string, boolean>>;
  /** The field that has the arguments of the command; the others are flags. */
  readonly args?: string;
  /** The words after `steno schema`, where they are not its name. */
  readonly schema?: readonly string[];
}

// Longer ones are no question, and no command line that every system takes.
const word = z.string().min(1).max(4000);
// Neither a flag nor a path, which may lead to any file.
const id = z.string().regex(/^\w[\w-]{0,99}$/);
const list = (help: string, item = word) => z.array(item).min(1).max(100).describe(help);
const count = (help: string) => z.int().min(1).max(100_000).describe(help);

const ids = list('audiofile ids', id);
const sku = list('a transcription SKU, such as TRANS14, and any add-ons');
const urls = list('http or https');
const lengths = z.array(z.number().min(0.1).max(10_000)).max(100);
const minutes = lengths.describe('length of each URL, where known').optional();

export const partInput = z.strictObject({
  id,
  offset: z.int().min(0).default(0),
  limit: count('characters').default(12_000),
});

// No more than a person can be shown.
export const orderInput = z.strictObject({
  urls: urls.max(20),
  sku,
  minutes,
  notes: word.max(1000).describe('for the transcribers').optional(),
});
export type Wanted = z.infer<typeof orderInput>;

/** What the tools that read take, each field under one name. */
const fields: z.ZodRawShape = {
  ids,
  words: list('word, phrase, start*, -unwanted'),
  text: word.describe('the quotation alone'),
  urls,
  minutes,
  sku,
  state: list('such as Delivered').optional(),
  event: list('such as TRANSCRIPT_COMPLETE').optional(),
  file: id.optional(),
  files: ids.optional(),
  order: id.optional(),
  tag: word.optional(),
  feed: word.describe('title or URL').optional(),
  speaker: word.describe('name').optional(),
  since: word.describe('2026-11-01, yesterday or 7d').optional(),
  until: word.describe('time').optional(),
  by: z.enum(['month', 'sku', 'order', 'feed', 'tag', 'person', 'invoice']).optional(),
  rules: z.enum(['netflix', 'bbc', 'podcast']).optional(),
  context: count('sentences around each').optional(),
  refresh: z.boolean().describe('ask the service').optional(),
  limit: z.int().min(1).max(10_000).default(20),
  answer: z.boolean().describe('with what the service answered').optional(),
};

/** A tool that reads, and nothing outside of this account. */
const annotations = { readOnlyHint: true, openWorldHint: false };

export const transcriptTool: Tool = {
  name: 'transcript',
  title: 'Read a transcript',
  description: 'A part of a transcript, with times; says where to continue',
  inputSchema: partInput,
  annotations,
};

export const orderTool: Tool = {
  name: 'order',
  title: 'Order transcription',
  description: 'Costs money. Asks the person first; buys nothing that was ordered before',
  inputSchema: orderInput,
  annotations: { destructiveHint: true, idempotentHint: true },
};

/** `files` stands for the field `file` with several ids. */
function tool(
  name: string,
  title: string,
  description: string,
  takes: string,
  more: Pick<Tool, 'args' | 'schema'> = {},
): Tool {
  const own = takes.split(' ').filter(Boolean);
  const shape = own.map((field) => [field === 'files' ? 'file' : field, fields[field]]);
  const inputSchema = z.strictObject(Object.fromEntries(shape) as z.ZodRawShape);
  return { name, title, description, inputSchema, annotations, ...more };
}

/** Which transcripts to look in. */
const chosen = 'files order tag feed speaker since';
const look = 'Sentences with all the words, and their file, time and speaker; in downloaded transcripts';
const said =
  'Was it said? exact, altered, spliced, other_speaker or missing, with file, time and speaker. Verify what you quote';
const doubts = 'Passages of downloaded transcripts to review: gaps, doubtful words, speakers, times';
// No feed: an assistant that was misled could put what it read into its address.
const costs = 'What an order would cost, and what is ordered already; orders nothing';
const listed = 'Ordered files and their states, newest first';

export const tools: readonly Tool[] = [
  tool('files', 'List files', listed, 'state since order tag feed refresh limit answer'),
  tool('file', 'Show files', 'Details and current state of files', 'ids answer', { args: 'ids' }),
  tool('search', 'Search transcripts', look, `words ${chosen} context limit`, { args: 'words' }),
  tool('quote', 'Verify a quotation', said, `text ${chosen}`, { args: 'text' }),
  tool('check', 'Check transcripts', doubts, 'ids rules', { args: 'ids' }),
  tool('estimate', 'Estimate the cost', costs, 'urls minutes sku', { schema: ['order', '--dry-run'] }),
  tool('balance', 'Show the balance', 'Prepay balance', 'answer'),
  tool('budget', 'Show budgets', 'Budgets and what is left of them', ''),
  tool('report', 'Report spending', 'Spending, turnaround and late files', 'since until by'),
  tool('events', 'List events', 'Received webhook events, newest first', 'event file order since limit'),
];

export function lineOf({ name, args: field = '' }: Tool, values: Values, hasLedger: boolean): Line {
  if (name === 'estimate')
    return orderLine(values as Wanted, hasLedger ? ['--dry-run', '--or-existing'] : ['--dry-run']);
  const { [field]: args = [], answer: _, ...flags } = values;
  return { words: [name, '--json', ...flagsOf(flags)], args: [args].flat() as string[] };
}

const flagsOf = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [value].flat().map((each) => `--${name}=${each}`);
  });

/** Audio goes through stdin, with its length. A local file is not for a model to send. */
export function orderLine({ urls, minutes = [], ...flags }: Wanted, more: readonly string[]): Line {
  const local = urls.find((each) => !/^https?:\/\//i.test(each));
  if (local !== undefined) throw usage(`'${local}' is not an http or https URL`);
  if (minutes.length && minutes.length !== urls.length)
    throw usage('give minutes for every URL, or for none');
  const rows = urls.map((url, at) => `${JSON.stringify({ url, minutes: minutes[at] })}\n`);
  return { words: ['order', '--json', ...flagsOf(flags), ...more, '--from=-'], input: rows.join('') };
}
