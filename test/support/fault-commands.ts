/** The commands of the fault matrix, and the exit code that the contract gives each of them for a fault. */
import type { BodyKind, Effect, KnownFault } from './fault-kinds.ts';

/**
 * `money` is sent once and may leave its outcome open; `once` is sent once; `read` is repeated. `poll` asks again until
 * its time is over. `bulk` has done something before it meets the fault.
 */
type Sends = 'money' | 'once' | 'read' | 'poll' | 'bulk';

/** What a command makes of the body of a success. */
type Reads =
  | 'order'
  | 'change'
  | 'balance'
  | 'file'
  | 'invoice'
  | 'webhook'
  | 'new webhook'
  | 'anything'
  | 'transcript';

export interface Command {
  readonly name: string;
  readonly args: readonly string[];
  readonly sends: Sends;
  readonly reads: Reads;
  /** Which of its calls meets the fault. */
  readonly call: RegExp;
  /** Leaves the transcript in the folder that it runs in. */
  readonly downloads?: boolean;
  /** After a change whose answer says nothing, it asks under the same path for what holds now. */
  readonly readsBack?: boolean;
  /** It prints the answer also where that says nothing clear. */
  readonly showsAnswer?: boolean;
}

export const commands: readonly Command[] = [
  {
    name: 'order',
    args: ['order', 'https://example.com/b.mp3', '--sku', 'TRANS14'],
    sends: 'money',
    reads: 'order',
    call: /^\/order_url$/,
  },
  {
    name: 'upgrade',
    args: ['upgrade', '5', '--sku', 'TSTMP1'],
    sends: 'money',
    reads: 'change',
    call: /\/upgrade$/,
  },
  { name: 'refund', args: ['refund', '5', '--yes'], sends: 'money', reads: 'change', call: /\/refund$/ },
  {
    name: 'api POST /order_url',
    args: ['api', 'POST', '/order_url', 'url=https://example.com/c.mp3', 'sku=TRANS14'],
    sends: 'money',
    reads: 'order',
    call: /^\/order_url$/,
    showsAnswer: true,
  },
  {
    name: 'webhook set',
    args: ['webhook', 'set', 'https://example.com/hook'],
    sends: 'once',
    reads: 'new webhook',
    call: /^\/webhook$/,
    readsBack: true,
  },
  {
    name: 'webhook test',
    args: ['webhook', 'test', 'TRANSCRIPT_COMPLETE'],
    sends: 'once',
    reads: 'new webhook',
    call: /^\/webhook\/test/,
  },
  { name: 'api POST', args: ['api', 'POST', '/x', 'a=b'], sends: 'once', reads: 'anything', call: /^\/x$/ },
  { name: 'balance', args: ['balance'], sends: 'read', reads: 'balance', call: /^\/prepay_balance$/ },
  { name: 'file', args: ['file', '5'], sends: 'read', reads: 'file', call: /^\/audiofile\/5$/ },
  { name: 'invoice', args: ['invoice', '7'], sends: 'read', reads: 'invoice', call: /^\/invoice\/7$/ },
  { name: 'webhook get', args: ['webhook', 'get'], sends: 'read', reads: 'webhook', call: /^\/webhook$/ },
  { name: 'api GET', args: ['api', 'GET', '/x'], sends: 'read', reads: 'anything', call: /^\/x$/ },
  {
    name: 'transcript',
    args: ['transcript', '5'],
    sends: 'read',
    reads: 'transcript',
    call: /\/transcript\.txt$/,
    downloads: true,
  },
  { name: 'wait', args: ['wait', '5', '--interval', '200ms'], sends: 'poll', reads: 'file', call: /^/ },
  {
    name: 'sync',
    args: ['sync', '--download', '.'],
    sends: 'read',
    reads: 'file',
    call: /^\/audiofile\/5$/,
    downloads: true,
  },
  {
    name: 'sync of a transcript',
    args: ['sync', '--download', '.'],
    sends: 'bulk',
    reads: 'transcript',
    call: /\/transcript\.txt$/,
    downloads: true,
  },
];

/** A fault of the connection hits the first call, and a command that begins with another one never gets further. */
export const canMeet = ({ sends }: Command, { effect }: KnownFault): boolean =>
  sends !== 'bulk' || (effect.kind !== 'unsent' && effect.kind !== 'unread');

/** The exit codes that the contract allows. */
export function exitCodes(command: Command, effect: Effect): readonly number[] {
  if (effect.kind === 'good') return [0];
  if (effect.kind === 'body') return bodyExitCodes(command, effect.body);
  const { sends } = command;
  if (sends === 'bulk') return [10];
  if (sends === 'poll') return [pollExitCode(effect)];
  const unclear = sends === 'money';
  switch (effect.kind) {
    case 'unsent':
      return [7];
    case 'unread':
      // Whether anything was sent before the end came is a race.
      return unclear ? [7, 11] : [7];
    case 'broken':
      return [unclear ? 11 : 7];
    case 'silent':
      return [unclear ? 11 : 6];
    default:
      return [statusExitCode(effect.status, unclear)];
  }
}

function statusExitCode(status: number, unclear: boolean): number {
  if (status === 401 || status === 403) return 3;
  if (status === 404) return 4;
  const refused = (status >= 400 && status < 500 && status !== 408) || status === 503;
  return unclear && !refused ? 11 : 1;
}

/** Waiting goes on unless the service says no; then the time is over. */
function pollExitCode(effect: Effect): number {
  if (effect.kind !== 'status') return 6;
  const { status } = effect;
  const saysNo = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return saysNo ? statusExitCode(status, false) : 6;
}

function bodyExitCodes({ sends, reads }: Command, body: BodyKind): readonly number[] {
  const unreadable = { money: 11, once: 1, read: 1, poll: 6, bulk: 10 }[sends];
  if (passes[reads].includes(body)) return [0];
  return inDoubt[reads]?.includes(body) ? [0, unreadable] : [unreadable];
}

/** Bodies that a command takes for a success. */
const passes: Readonly<Record<Reads, readonly BodyKind[]>> = {
  order: [],
  change: [],
  balance: [],
  file: [],
  invoice: [],
  // None is set.
  webhook: ['empty JSON'],
  'new webhook': [],
  // `api` prints what it is sent, whatever that is.
  anything: [
    ...(['nothing', 'white space', 'an empty object', 'empty JSON', 'a bare value', 'a page'] as const),
    ...(['half a document', 'an unknown packing', 'the first bytes alone'] as const),
  ],
  // A text that ends early is a text.
  transcript: ['the first bytes alone'],
};

/** Bodies that the contract does not judge. */
const inDoubt: Partial<Record<Reads, readonly BodyKind[]>> = {
  balance: ['a bare value'],
  change: ['a bare value'],
  'new webhook': ['a bare value'],
  transcript: ['white space', 'an empty object', 'empty JSON', 'a bare value', 'half a document'],
};
