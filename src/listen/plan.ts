/** Makes a plan of what the user asked a listener to do, and refuses what can't be done. */

import { readFile } from 'node:fs/promises';
import type { Transport } from '../api/http/transport.ts';
import { checkFormats } from '../catalog/check.ts';
import { removeLeftovers } from '../flows/transcripts/partial-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import { checkUrl, isLoopback } from '../lib/urls.ts';
import type { Action } from './actions/action.ts';
import { downloadAction } from './actions/download.ts';
import { execAction } from './actions/exec.ts';
import { forwardTo } from './actions/forward.ts';
import { eventNames } from './event-names.ts';
import type { Plan } from './session.ts';

export interface Asked {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly path: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly register: boolean;
  readonly publicUrl: string | undefined;
  readonly tunnel: string | undefined;
  readonly forwardTo: readonly string[];
  readonly exec: string | undefined;
  readonly execTimeout: number | undefined;
  readonly jobs: number | undefined;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly only: readonly string[];
  readonly until: string | undefined;
  readonly count: number | undefined;
}

export interface Circumstances {
  readonly inSandbox: boolean;
  readonly timeout: number | undefined;
  readonly warn: (text: string, hint?: string) => void;
}

/** The plan but for its actions, which may need the service. */
export async function planListening(
  asked: Asked,
  { inSandbox, timeout, warn }: Circumstances,
): Promise<Omit<Plan, 'actions'>> {
  const { host = '127.0.0.1', path = '/', register, publicUrl, tunnel } = asked;
  checkFormats(asked.format);
  for (const url of [...asked.forwardTo, ...(publicUrl === undefined ? [] : [publicUrl])])
    checkUrl(url, 'hook');
  if (!/^\/[^\s?#]*$/.test(path)) throw usage(`'${path}' for --path is not a path`, 'write it like /hook');
  if (publicUrl !== undefined && tunnel !== undefined)
    throw usage('--public-url and --tunnel exclude each other');
  if (publicUrl !== undefined && !register) throw usage('--public-url is for --register');
  if (register && publicUrl === undefined && tunnel === undefined && !inSandbox) {
    throw usage(
      '--register wants --public-url or --tunnel',
      'the service must be able to reach this machine',
    );
  }
  if (!isLoopback(bracketed(host)) && !register && tunnel === undefined && !isSecret(path)) {
    warn(
      `whoever reaches ${host} can send events here, for nobody signs them`,
      'use --register, a --path that nobody guesses, or --host 127.0.0.1',
    );
  }
  const [until] = eventNames(asked.until === undefined ? [] : [asked.until], warn);
  return {
    door: { host, port: portOf(asked.port), tls: await readTls(asked) },
    path,
    only: eventNames(asked.only, warn),
    goal: { until, count: asked.count, timeout },
    register,
    publicUrl,
    tunnel,
  };
}

/** Each action that was asked for, once. */
export async function planActions(
  asked: Asked,
  env: Env,
  onOutput: (chunk: Buffer) => void,
): Promise<(ledger: Ledger, transport: Transport | undefined) => Action[]> {
  const { exec, download } = asked;
  const forwards = await Promise.all([...new Set(asked.forwardTo)].map((url) => forwardTo(url, env)));
  if (download !== undefined) await removeLeftovers(download);
  return (ledger, transport) => {
    const actions = [...forwards];
    if (exec !== undefined) {
      if (!exec.trim()) throw usage('--exec wants a command');
      const { execTimeout: timeout = 600_000, jobs = 4 } = asked;
      actions.push(execAction({ command: exec, env, timeout, jobs, onOutput }));
    }
    if (download !== undefined && transport)
      actions.push(downloadAction(transport, ledger, download, checkFormats(asked.format)));
    return actions;
  };
}

function portOf(given = '4100'): number {
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw usage(`'${given}' for --port is not a number from 0 to 65535`);
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** As long as 128 bits in base64. */
const isSecret = (path: string): boolean => path.split('/').some((step) => step.length >= 22);

async function readTls({ tlsCert, tlsKey }: Asked): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw usage('--tls-cert and --tls-key go together');
  const read = async (path: string): Promise<Buffer> =>
    readFile(path).catch((error) => {
      throw usage(`can't read ${path}: ${errorMessage(error)}`);
    });
  return { cert: await read(tlsCert), key: await read(tlsKey) };
}
