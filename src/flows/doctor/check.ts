/** What a check of `steno doctor` is given, and what it says. */
import type { Transport } from '../../api/http/transport.ts';
import type { SharedLedgerOptions } from '../../ledger/shared.ts';
import type { Env } from '../../lib/env.ts';
import { StenoError } from '../../lib/errors.ts';
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

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warn = (message: string, hint?: string): Finding => ({ status: 'warn', message, hint });
export const fail = (message: string, hint?: string): Finding => ({ status: 'fail', message, hint });
export const skipped = (message: string): Finding => ({ status: 'skipped', message });

/** Does the work within a time limit; its signal fires when the time is over, or the user interrupts. */
export async function within<Result>(
  limitMs: number,
  interrupt: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signal = AbortSignal.any([interrupt, AbortSignal.timeout(limitMs)]);
  const tooLong = new StenoError('timeout', `no answer within ${formatDuration(limitMs)}`);
  const over = new Promise<never>((_, reject) => {
    const end = (): void =>
      reject(interrupt.aborted ? new StenoError('interrupted', 'interrupted') : tooLong);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
  return Promise.race([work(signal), over]);
}

/** What the checks look at. They make and change nothing on this machine: no folder, no ledger, no setting. */
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
  /** Where the config file or the profile can't be used, those of flags and environment alone. */
  readonly settings: Settings;
  /** Why the config file or the profile can't be used. */
  readonly settingsError: unknown;
  readonly key: () => Promise<Key | undefined>;
  /** A connection that is closed at the end; its calls end with the signal. */
  readonly connect: (apiKey: string, signal: AbortSignal) => Promise<Transport>;
  /** What a shared ledger is opened with; undefined where none is set. */
  readonly sharedLedger: () => Promise<SharedLedgerOptions | undefined>;
  /** Whether a webhook that a crashed listener has left may be put back. */
  readonly mayPutBack: boolean;
}

/** Runs `work` on the first call, and only then. */
export function once<Result>(work: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
}
