/** One line of `steno doctor`: what is looked at, and what was found. */

import type { Transport } from '../../api/http/transport.ts';
import type { SharedLedgerOptions } from '../../ledger/shared.ts';
import type { Env } from '../../lib/env.ts';
import { errorMessage, StenoError } from '../../lib/errors.ts';
import { formatDuration } from '../../lib/time.ts';
import type { Key } from '../../settings/key.ts';
import type { Settings } from '../../settings/settings.ts';

export type Status = 'ok' | 'warn' | 'fail' | 'skipped';

export interface Finding {
  readonly status: Status;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

/** A finding under the name of its check, which scripts may rely on. */
export interface CheckResult extends Finding {
  readonly check: string;
}

export interface Check {
  readonly name: string;
  readonly needsNetwork?: boolean;
  readonly run: () => Finding | Promise<Finding>;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warn = (message: string, hint?: string): Finding => ({ status: 'warn', message, hint });
export const fail = (message: string, hint?: string): Finding => ({ status: 'fail', message, hint });
export const skipped = (message: string, hint?: string): Finding => ({ status: 'skipped', message, hint });

/** An error as a finding. */
export const failed = (error: unknown, hint?: string): Finding =>
  fail(
    error instanceof StenoError
      ? [error.message, ...error.more].join('; ')
      : errorMessage(error) || String(error),
    (error instanceof StenoError && error.hint) || hint,
  );

/** The longest that all of them may take, whatever one of them waits for. */
const MAX_MS = 60_000;

/** Runs all checks beside each other; one that fails or hangs stops no other. Results are in the order of the checks. */
export async function runChecks(
  checks: readonly Check[],
  { offline, signal }: { readonly offline: boolean; readonly signal: AbortSignal },
): Promise<CheckResult[]> {
  const outcomes = checks.map(async ({ name, needsNetwork, run }): Promise<CheckResult> => {
    if (offline && needsNetwork) return { check: name, ...skipped('needs the network (--offline)') };
    const finding = await within(MAX_MS, signal, async () => run()).catch((error) => failed(error));
    return { check: name, ...finding };
  });
  return Promise.all(outcomes);
}

/** Does the work within a time limit; its signal fires when the time is over, or the user interrupts. */
export async function within<Result>(
  limitMs: number,
  interrupt: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController();
  const signal = AbortSignal.any([interrupt, limit.signal]);
  const timer = setTimeout(() => limit.abort(), limitMs);
  const tooLong = new StenoError('timeout', `no answer within ${formatDuration(limitMs)}`);
  const over = new Promise<never>((_, reject) => {
    const end = (): void =>
      reject(interrupt.aborted ? new StenoError('interrupted', 'interrupted') : tooLong);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  try {
    return await Promise.race([work(signal), over]);
  } finally {
    clearTimeout(timer);
  }
}

/** Done when it is first asked for, and then once. */
export function once<Result>(work: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
}

// What the checks look at. Nothing here makes or changes anything: no folder, no ledger, no setting.

export interface Setup {
  readonly env: Env;
  /** The same as calls of the service see it: the sandbox is never reached through a proxy. */
  readonly networkEnv: Env;
  readonly inSandbox: boolean;
  readonly offline: boolean;
  /** How long one question over the network may take. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  readonly hide: (text: string) => string;
  readonly settings: () => ReadSettings;
  readonly key: () => Promise<Key | undefined>;
  /** A connection that is closed at the end; its calls end with the signal. */
  readonly connect: (apiKey: string, signal: AbortSignal) => Promise<Transport>;
  /** What a shared ledger is opened with; undefined where none is set. */
  readonly sharedLedger: () => Promise<SharedLedgerOptions | undefined>;
  /** Where the completions of the user's shell are installed. Throws where the shell is not known. */
  readonly completions: () => Promise<Completions>;
  /** An event of which the service is asked to send a test. */
  readonly testEvent: string | undefined;
}

/** The settings, also where the config file can't be used: then those of flags and environment alone. */
export interface ReadSettings {
  readonly settings: Settings;
  /** Why the config file is not used. */
  readonly configError: unknown;
  /** Why the profile is not used. */
  readonly profileError: unknown;
}

export interface Completions {
  readonly shell: string;
  /** The file of the script. */
  readonly script: string;
  readonly state: 'installed' | 'outdated' | 'missing';
  /** Files that the shell reads at its start. */
  readonly startUpFiles: readonly string[];
}
