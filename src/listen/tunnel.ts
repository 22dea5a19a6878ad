/** The tunnel program of the user: started with the local address filled in, ended with the session. */

import { ProcessGroup } from '../lib/child-processes.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { childEnv } from '../lib/processes.ts';
import { oneLine } from '../lib/text.ts';
import { monotonicMs, sleep } from '../lib/time.ts';
import { isLoopback, isUrl } from '../lib/url.ts';

export interface Tunnel {
  readonly url: string;
  /** Resolves with how it ended: `exit 1`, or the name of a signal. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

interface TunnelOptions {
  /** With `{url}` and `{port}` for the local address. */
  readonly command: string;
  readonly origin: string;
  readonly port: number;
  readonly env: Env;
  readonly signal: AbortSignal;
}

const ADDRESS_TIMEOUT_MS = 30_000;
/** An address with a path is taken only if no better one follows: programs print links to their terms, too. */
const BETTER_ADDRESS_MS = 3_000;
const MAX_OUTPUT_LENGTH = 262_144;
const POLL_INTERVAL_MS = 50;

export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { command, origin, port, env, signal } = options;
  const line = command.replaceAll('{url}', origin).replaceAll('{port}', String(port));
  const group = new ProcessGroup({ command: line, env: childEnv(env), hasInput: false });
  const ended = group.ended.then(
    ({ code, killedBy }) => (code === null ? `${killedBy}` : `exit ${code}`),
    (error: unknown) => errorMessage(error),
  );
  const close = async (): Promise<void> => {
    group.end();
    await ended;
  };
  try {
    const url = await firstAddress(group.outputs, ended, signal);
    return { url, ended, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function firstAddress(
  outputs: readonly NodeJS.ReadableStream[],
  ended: Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  let text = '';
  let how: string | undefined;
  void ended.then((end) => {
    how = end;
  });
  // Also when it has come: the program would block once its pipe is full.
  for (const output of outputs)
    output.on('data', (chunk: Buffer) => {
      if (text.length <= MAX_OUTPUT_LENGTH) text += chunk.toString('utf8');
    });
  const fail = (what: string): StenoError => new StenoError('failed', what, { hint: lastOutput(text) });
  const begunAt = monotonicMs();
  for (let possibleAt = Number.POSITIVE_INFINITY; ; ) {
    const { likely, possible } = addressesIn(text);
    const now = monotonicMs();
    if (possible) possibleAt = Math.min(possibleAt, now);
    if (likely) return likely;
    if (now - possibleAt >= BETTER_ADDRESS_MS) return bestAddress(text) ?? possible ?? '';
    if (how !== undefined) throw fail(`the tunnel ended before it printed an address (${how})`);
    if (now - begunAt >= ADDRESS_TIMEOUT_MS)
      throw fail('the tunnel printed no public https address within 30s');
    await sleep(POLL_INTERVAL_MS, signal);
  }
}

const bestAddress = (text: string): string | undefined => {
  const { likely, possible } = addressesIn(`${text}\n`);
  return likely ?? possible;
};

/** The last lines, each of them whole: in half a key the mask finds nothing. */
const lastOutput = (text: string): string =>
  text.trim() ? `it printed: ${oneLine(text.trim().split('\n').slice(-5).join('\n'))}` : 'it printed nothing';

const documentHosts =
  /^(www|docs?|developers?|dashboard|admin|status|help|support|blog)\.|(^|\.)(github\.com|localhost\.run)$/;

/** A tunnel's own address is a bare host; a link to its documents has a path, or a host that says so. */
function addressesIn(text: string): { likely: string | undefined; possible: string | undefined } {
  const addresses = [...text.matchAll(/https:\/\/[^\s"'<>|\\^`{}()[\]\u001b]+/gi)]
    .map(([url]) => url.replace(/[.,;:!?]+$/, ''))
    .filter((url) => isUrl(url) && isPublic(new URL(url).hostname));
  const isBare = (url: string): boolean => {
    const { pathname, search, hostname } = new URL(url);
    return pathname === '/' && search === '' && !documentHosts.test(hostname);
  };
  // The end of the text may be half an address.
  const isWhole = (url: string): boolean => !text.endsWith(url);
  return { likely: addresses.find((url) => isBare(url) && isWhole(url)), possible: addresses[0] };
}

const isPublic = (host: string): boolean =>
  !isLoopback(host) && !/^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\.|\.local$/.test(host);
