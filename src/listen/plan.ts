/** What a listening session is given, and the plan of what the user asked `listen` to do; refuses what can't be done. */

import { readFile } from 'node:fs/promises';
import type { Transport } from '../api/http/transport.ts';
import { checkFormats } from '../catalog/check.ts';
import { checkFolder, checkTemplate } from '../flows/transcripts/name.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Waiting } from '../ledger/waiting.ts';
import { EXEC_JOBS, EXEC_LIMIT_MS } from '../lib/defaults.ts';
import type { Env } from '../lib/env.ts';
import { systemReason, usage } from '../lib/errors.ts';
import { checkUrl, isLoopback } from '../lib/url.ts';
import { type Action, type ActionReport, targetName } from './action.ts';
import { downloadAction } from './download.ts';
import { eventNames, type ReceivedEvent } from './event.ts';
import { execAction } from './exec.ts';
import { forwardAction } from './forward.ts';
import type { ReceiverOptions } from './server.ts';
import type { EndConditions, Tally } from './session-end.ts';

/** Opens a connection to the service; its calls end when the signal fires. */
export type Connect = (signal: AbortSignal) => Promise<Transport>;

export interface ActionResources {
  readonly ledger: Ledger;
  /** Absent where no account is set up. */
  readonly connect: (() => Promise<Transport>) | undefined;
}

export interface ListenPlan {
  readonly server: Pick<ReceiverOptions, 'host' | 'port' | 'tls'>;
  readonly path: string;
  readonly openActions: (resources: ActionResources) => Promise<readonly Action[]>;
  /** The events that are shown and acted on; empty: all. */
  readonly only: readonly string[];
  readonly endConditions: EndConditions;
  /** How long events are kept; absent: for good. */
  readonly keepMs?: number | undefined;
  readonly register: boolean;
  /** Where the service reaches the receiver, if not at its own address. */
  readonly publicUrl?: string | undefined;
  readonly tunnel?: string | undefined;
}

export interface SessionResources {
  readonly ledger: Ledger;
  readonly waiting: Waiting;
  /** Absent where no account is set up. */
  readonly connect: Connect | undefined;
  /** Has something undone when the program ends, also when it crashes; returns what cancels that. */
  readonly onExit: (cleanUp: () => Promise<void>) => () => void;
  readonly env: Env;
  /** Masks the key. */
  readonly hide: (text: string) => string;
  /** Fires on Ctrl-C and the like. */
  readonly interrupt: AbortSignal;
}

/** Where events are shown. */
export interface EventScreen {
  readonly show: (events: readonly ReceivedEvent[]) => Promise<void>;
  /** Whether all that was shown has left this process; false where its reader has gone, or the signal fires before. */
  readonly isTaken: (signal: AbortSignal) => Promise<boolean>;
  /** The reader has gone: nothing more can be shown. */
  readonly isGone: () => boolean;
}

export interface SessionCallbacks {
  readonly onReady: (url: string, actions: readonly Action[]) => void;
  readonly screen: EventScreen;
  /** For an event that could not be kept. */
  readonly onLost: (event: ReceivedEvent) => void;
  readonly onReport: (report: ActionReport) => void;
  /** Once, at the end of a session that received. */
  readonly onTotal: (tally: Tally) => Promise<void>;
  readonly onNote: (text: string) => void;
  /** What is said in every form of output. */
  readonly onNotice: (text: string) => void;
  readonly onWarning: (text: string, hint?: string) => void;
  /** Asked before the webhook of the account is replaced; ends with the signal. */
  readonly mayReplace: (previous: string, signal: AbortSignal) => Promise<boolean>;
}

/** The flags of `listen`, as they were given. */
export interface ListenFlags {
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
  readonly execWithKey: boolean;
  readonly jobs: number | undefined;
  readonly download: string | undefined;
  readonly format: readonly string[];
  readonly nameAs: string | undefined;
  readonly only: readonly string[];
  readonly until: string | undefined;
  readonly anyEvent: boolean;
  readonly count: number | undefined;
  readonly keep: number | undefined;
}

interface PlanOptions {
  /** Where calls go; the sandbox is none that is set. */
  readonly baseUrl: string | undefined;
  readonly inSandbox: boolean;
  readonly timeoutMs: number | undefined;
  readonly env: Env;
  /** The key of the account, for --exec-with-key; throws if there is none. */
  readonly requireKey: () => Promise<string>;
  /** Masks the key. */
  readonly hide: (text: string) => string;
  readonly onNote: (text: string) => void;
  readonly onWarning: (text: string, hint?: string) => void;
  /** Gets what commands of --exec print. */
  readonly onOutput: (lines: string) => void;
}

export async function planListening(flags: ListenFlags, options: PlanOptions): Promise<ListenPlan> {
  const { host = '127.0.0.1', path: givenPath = '/', register, publicUrl, tunnel, until } = flags;
  const { timeoutMs, onWarning } = options;
  const isAllowed = (): boolean => flags.anyEvent;
  checkTemplate(flags.nameAs, checkFormats(flags.format, flags.nameAs));
  if (flags.download !== undefined) checkFolder(flags.download, options.onNote);
  checkAddresses(flags);
  if (!/^\/[^\s?#]*$/.test(givenPath))
    throw usage(`--path must be a path, not '${givenPath}'`, 'write it like /hook');
  // As senders write it.
  const path = givenPath.replace(/[^!-~]+/g, encodeURIComponent);
  if (flags.exec !== undefined && !flags.exec.trim()) throw usage('--exec requires a command');
  checkRegistration(flags, options);
  if (!isLoopback(inBrackets(host)) && !register && tunnel === undefined && !hasSecret(path)) {
    onWarning(
      `anyone who can reach ${host} can send events here: events are not signed`,
      'use --register, a --path that nobody can guess, or --host 127.0.0.1',
    );
  }
  return {
    server: { host, port: parsePort(flags.port), tls: await readTls(flags) },
    path,
    openActions: (resources) => openActions(flags, options, resources),
    only: eventNames(flags.only, isAllowed),
    keepMs: flags.keep,
    endConditions: {
      until: until === undefined ? undefined : eventNames([until], isAllowed)[0],
      count: flags.count,
      timeoutMs,
    },
    register,
    publicUrl,
    tunnel,
  };
}

function checkAddresses({ forwardTo, publicUrl }: ListenFlags): void {
  for (const url of forwardTo) checkUrl(url, 'hook');
  if (publicUrl !== undefined) checkUrl(publicUrl, 'hook');
}

/** A service on this machine reaches the receiver at its own address. */
function checkRegistration(
  { register, publicUrl, tunnel }: ListenFlags,
  { inSandbox, baseUrl }: PlanOptions,
): void {
  const isHere = inSandbox || (baseUrl !== undefined && isLoopback(new URL(baseUrl).hostname));
  if (register && publicUrl === undefined && tunnel === undefined && !isHere) {
    throw usage(
      '--register requires --public-url or --tunnel',
      'the service must be able to reach this machine',
    );
  }
}

/** Each action that was asked for, once. */
async function openActions(
  flags: ListenFlags,
  { env, requireKey, hide, onOutput }: PlanOptions,
  { ledger, connect }: ActionResources,
): Promise<Action[]> {
  const { exec, execTimeout = EXEC_LIMIT_MS, jobs = EXEC_JOBS, download } = flags;
  const names = new Set<string>();
  const named = (action: Action, text: string): Action => {
    const name = targetName(text, hide);
    // Two that differ in their secrets alone are two.
    const target = names.has(`${action.kind} ${name}`) ? `${name} ${names.size}` : name;
    names.add(`${action.kind} ${target}`);
    return { ...action, target };
  };
  const urls = [...new Set(flags.forwardTo)];
  const forwards = await Promise.all(urls.map((url) => forwardAction(url, env)));
  const actions = forwards.map((action, at) => named(action, urls[at] ?? ''));
  const key = flags.execWithKey ? await requireKey() : undefined;
  if (exec !== undefined) {
    const action = execAction({ command: exec, env, key, timeoutMs: execTimeout, jobs, onOutput });
    actions.push(named(action, exec));
  }
  if (download !== undefined && connect) {
    const action = downloadAction(
      await connect(),
      ledger,
      download,
      checkFormats(flags.format, flags.nameAs),
      flags.nameAs,
    );
    actions.push(named(action, action.target));
  }
  return actions;
}

function parsePort(given = '4100'): number {
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw usage(`--port must be a number from 0 to 65535, not '${given}'`);
}

const inBrackets = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** As long as 128 bits in base64. */
const MIN_SECRET_LENGTH = 22;

const hasSecret = (path: string): boolean =>
  path.split('/').some((segment) => segment.length >= MIN_SECRET_LENGTH);

async function readTls({ tlsCert, tlsKey }: ListenFlags): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const read = async (path: string): Promise<Buffer> =>
    readFile(path).catch((error) => {
      throw usage(`can't read ${path}: ${systemReason(error)}`);
    });
  return { cert: await read(tlsCert), key: await read(tlsKey) };
}
