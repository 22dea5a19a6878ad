/** The tunnel program of the user: started with the local address filled in, ended with the session. */
import { childEnv } from '../lib/child-env.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { isUrl } from '../lib/is-url.ts';
import { ProcessGroup } from '../lib/process-group.ts';
import { oneLine } from '../lib/text.ts';
import { isLoopback } from '../lib/urls.ts';
import { startTimer } from './background.ts';

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

type Outputs = readonly NodeJS.ReadableStream[];

async function firstAddress(outputs: Outputs, ended: Promise<string>, signal: AbortSignal): Promise<string> {
  let text = '';
  const cleanUps: Array<() => void> = [];
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (what: string): void => reject(new StenoError('failed', what, { hint: lastOutput(text) }));
      const onAbort = (): void => reject(new StenoError('interrupted', 'interrupted'));
      let hasPossible = false;
      const read = (chunk: Buffer): void => {
        if (text.length > MAX_OUTPUT_LENGTH) return;
        text += chunk.toString('utf8');
        const { likely, possible } = addressesIn(text);
        if (likely) return void resolve(likely);
        if (!possible || hasPossible) return;
        hasPossible = true;
        cleanUps.push(startTimer(BETTER_ADDRESS_MS, () => resolve(bestAddress(text) ?? possible), reject));
      };
      const giveUp = (): void => fail('the tunnel printed no public https address in 30s');
      cleanUps.push(startTimer(ADDRESS_TIMEOUT_MS, giveUp, reject));
      for (const output of outputs) {
        output.on('data', read);
        // Read on: the program would block once its pipe is full.
        cleanUps.push(() => void output.off('data', read).resume());
      }
      void ended.then((how) => fail(`the tunnel ended before it printed an address (${how})`));
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      cleanUps.push(() => signal.removeEventListener('abort', onAbort));
    });
  } finally {
    for (const cleanUp of cleanUps) cleanUp();
  }
}

const bestAddress = (text: string): string | undefined => {
  const { likely, possible } = addressesIn(`${text}\n`);
  return likely ?? possible;
};

/** The last lines, each of them whole: in half a key the mask finds nothing. */
const lastOutput = (text: string): string =>
  text.trim() ? `it said: ${oneLine(text.trim().split('\n').slice(-5).join('\n'))}` : 'it said nothing';

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
