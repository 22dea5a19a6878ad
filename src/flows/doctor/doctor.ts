/** `steno doctor`: what a set-up consists of, each line ok or with what to do about it. */
import { errorMessage, StenoError } from '../../lib/errors.ts';
import { type CheckResult, type Finding, fail, type Setup, within } from './check.ts';
import { checkDisk, checkSettings, LedgerCheck } from './machine.ts';
import { checkProxy, ServiceChecks } from './service.ts';

/** The longest that all checks may take, whatever one of them waits for. */
const MAX_MS = 60_000;

/** Runs all checks beside each other; one that fails or hangs stops no other. */
export async function examine(setup: Setup): Promise<CheckResult[]> {
  const service = new ServiceChecks(setup);
  const ledger = new LedgerCheck(setup);
  const checks: ReadonlyArray<readonly [name: string, check: () => Finding | Promise<Finding>]> = [
    ['settings', () => checkSettings(setup)],
    ['disk', () => checkDisk(setup)],
    ['base-url', () => service.checkBaseUrl()],
    ['proxy', () => checkProxy(setup)],
    ['service', () => service.checkReachable()],
    ['key', () => service.checkKey()],
    ['ledger', () => ledger.check()],
    ['webhook', () => service.checkWebhook()],
  ];
  const { limitMs, signal } = setup;
  try {
    return await Promise.all(
      checks.map(async ([check, run]) => {
        const done = within(Math.max(MAX_MS, limitMs), signal, async () => run());
        return { check, ...(await done.catch(failed)) };
      }),
    );
  } finally {
    await ledger.close();
  }
}

/** An error as a finding. */
const failed = (error: unknown): Finding =>
  error instanceof StenoError
    ? fail([error.message, ...error.more].join('; '), error.hint)
    : fail(errorMessage(error) || String(error));
