/** What each tool takes, and the command line that it stands for. Terse, because a model reads all of it. */
import * as z from 'zod';
import { usage } from '../lib/errors.ts';
import type { Line } from './children.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** The field that has the arguments of the command; the others are flags. */
  readonly args?: string;
  /** The words after `steno schema`, where they are not its name. */
  readonly schema?: readonly string[];
}

// Longer ones are no question, and no command line that every system takes.
const word = z.string().min(1).max(4000);
const text = (help: string) => word.describe(help).optional();
const list = (help: string) => z.array(word).min(1).max(100).describe(help);
const count = (help: string) => z.int().min(1).max(100_000).describe(help);

const limit = z.int().min(1).max(10_000).default(20);
const since = text('2026-11-01, yesterday or 7d');
const sku = list('a transcription SKU, such as TRANS14, and any add-ons');
const urls = list('http or https');
const minutes = z.array(z.number().positive()).describe('length of each URL; else the cost is unknown');

export const transcriptInput = z.strictObject({
  id: word,
  offset: z.int().min(0).default(0),
  limit: count('characters').default(12_000),
});

export const orderInput = z.strictObject({
  ...{ urls, sku, minutes: minutes.optional(), notes: text('for the transcribers') },
});

export type Wanted = z.infer<typeof orderInput>;

export const tools: readonly Tool[] = [
  {
    ...{ name: 'files', title: 'List files', description: 'Ordered files and their states, newest first' },
    input: z.strictObject({
      ...{ state: list('such as Delivered').optional(), since, order: text('id'), tag: text('tag') },
      ...{ feed: text('title or URL'), refresh: z.boolean().describe('ask the service').optional(), limit },
    }),
  },
  {
    ...{ name: 'file', title: 'Show files', description: 'Details and current state of files' },
    ...{ input: z.strictObject({ ids: list('audiofile ids') }), args: 'ids' },
  },
  {
    ...{ name: 'search', title: 'Search transcripts', args: 'words' },
    description: 'Sentences that have all the words, with file, time and speaker; in downloaded transcripts',
    input: z.strictObject({
      ...{ words: list('word, phrase, start*, -unwanted'), file: list('ids').optional() },
      ...{ speaker: text('name'), since, context: count('sentences around each').optional(), limit },
    }),
  },
  {
    ...{ name: 'check', title: 'Check transcripts', args: 'ids' },
    description: 'What a person must look at in downloaded transcripts: gaps, doubts, speakers, times',
    input: z.strictObject({
      // The command takes paths too, and a path may lead to any file.
      ids: z.array(z.string().regex(/^[\w-]+$/)).min(1),
      rules: z.enum(['netflix', 'bbc', 'podcast']).optional(),
    }),
  },
  {
    ...{ name: 'estimate', title: 'Estimate the cost', schema: ['order', '--dry-run'] },
    description: 'What an order of urls or of a feed would cost, and what is ordered already; orders nothing',
    input: z.strictObject({
      ...{ urls: urls.optional(), minutes: minutes.optional(), sku },
      ...{ feed: text('URL of a podcast feed'), latest: count('newest episodes of the feed').optional() },
    }),
  },
  {
    ...{ name: 'balance', title: 'Show the balance', description: 'Prepay balance' },
    input: z.strictObject({}),
  },
  {
    ...{ name: 'budget', title: 'Show budgets', description: 'Budgets and what is left of them' },
    input: z.strictObject({}),
  },
  {
    ...{ name: 'report', title: 'Report spending', description: 'Spending, turnaround and late files' },
    input: z.strictObject({
      ...{ since, until: text('time'), by: z.enum(['month', 'sku', 'order', 'feed', 'tag']).optional() },
    }),
  },
  {
    ...{ name: 'events', title: 'List events', description: 'Received webhook events, newest first' },
    input: z.strictObject({
      ...{ event: list('such as TRANSCRIPT_COMPLETE').optional(), file: text('id'), order: text('id') },
      ...{ since, limit },
    }),
  },
];

export function lineOf({ name, args: field = '' }: Tool, values: Values): Line {
  if (name === 'estimate') return orderLine(values, ['--dry-run']);
  const { [field]: args = [], ...flags } = values;
  return { words: [name, ...flagsOf(flags)], args: args as string[] };
}

const flagsOf = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [value].flat().map((each) => `--${name}=${each}`);
  });

/** Audio goes through stdin, with its length. A local file is not for a model to send. */
export function orderLine({ urls = [], minutes = [], ...flags }: Values, more: readonly string[]): Line {
  const [given, lengths] = [urls as string[], minutes as number[]];
  const sources = flags.feed === undefined ? given : [...given, String(flags.feed)];
  const local = sources.find((each) => !/^https?:\/\//i.test(each));
  if (local !== undefined) throw usage(`'${local}' is not an http or https URL`);
  if (given.length > 0 === (flags.feed !== undefined)) throw usage('give either urls or a feed');
  if (lengths.length && lengths.length !== given.length)
    throw usage('give minutes for each of urls, or none');
  const words = ['order', ...flagsOf(flags), ...more];
  const rows = given.map((url, at) => `${JSON.stringify({ url, minutes: lengths[at] })}\n`);
  return given.length ? { words: [...words, '--from=-'], input: rows.join('') } : { words };
}
