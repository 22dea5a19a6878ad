/** What a fault leaves a client to know, and the means to describe one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Good, Turn } from './fault-proxy.ts';

/** What stands in an answer with status 200 in place of the good body. */
export type BodyKind =
  | 'nothing'
  | 'white space'
  | 'an empty object'
  /** JSON that is no object: null, a list. */
  | 'empty JSON'
  | 'a bare value'
  | 'a page'
  | 'half a document'
  | 'too much'
  | 'what is not as packed as it says'
  | 'an unknown packing'
  /** As announced, but less than the good body: nothing but the content can tell. */
  | 'the first bytes alone';

export type Effect =
  /** The good answer comes. */
  | { readonly kind: 'good' }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'body'; readonly body: BodyKind }
  /** The request was read, and no usable answer came. */
  | { readonly kind: 'broken' }
  /** The request was read, and no answer came in time. */
  | { readonly kind: 'silent' }
  /** There was no connection. */
  | { readonly kind: 'unsent' }
  /** The connection ended before the request was read. */
  | { readonly kind: 'unread' };

export interface KnownFault extends Fault {
  readonly effect: Effect;
  /** A read that meets it is sent again, which takes a while. */
  readonly repeated?: boolean;
}

/** Stands in answers that must never be taken for one. */
export const FORGED = 'FORGED';

type Bytes = (turn: Turn) => Buffer | string;

/** Sends these bytes and keeps the connection, or closes or resets it. */
export const sends =
  (bytes: Bytes, then: 'keeps' | 'closes' | 'resets' = 'closes') =>
  async (turn: Turn): Promise<void> => {
    const { socket } = turn;
    socket.write(bytes(turn));
    if (then === 'closes') socket.end();
    if (then === 'keeps') return;
    // Sent before it is reset, or the reset would overtake it.
    await sleep(20);
    if (then === 'resets') socket.resetAndDestroy();
  };

export const good = (name: string, serve: Fault['serve']): KnownFault => ({
  name,
  serve,
  effect: { kind: 'good' },
});

export const broken = (name: string, serve: Fault['serve'], repeated = true): KnownFault => ({
  name,
  serve,
  effect: { kind: 'broken' },
  repeated,
});

export const silent = (name: string, serve: Fault['serve']): KnownFault => ({
  name,
  serve,
  effect: { kind: 'silent' },
});

/** The good answer with another head, and a body of any length. */
export const headed =
  (head: (good: Good) => string, tail = ''): Bytes =>
  ({ good }) =>
    Buffer.concat([Buffer.from(head(good), 'latin1'), good.body, Buffer.from(tail)]);

export const lengths = (...values: Array<number | string>): string =>
  values.map((value) => `content-length: ${value}\r\n`).join('');
