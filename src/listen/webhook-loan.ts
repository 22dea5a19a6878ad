/** Borrows the account's webhook: sets it to the receiver while a session runs, and puts the former one back. */
import { randomBytes } from 'node:crypto';
import type { Transport } from '../api/http/transport.ts';
import { getWebhook, setWebhook, testWebhook } from '../api/webhook.ts';
import type { Registration, Runs } from '../ledger/runs.ts';
import { monotonicMs } from '../lib/clock.ts';
import { formatDuration } from '../lib/duration.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { sleep } from '../lib/sleep.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Inbox } from './inbox.ts';
import type { Connect, SessionCallbacks, SessionResources } from './session-options.ts';

/** 192 random bits, as one segment of a path. */
export const secretSegment = (): string => randomBytes(24).toString('base64url');

/** A URL with the secret at the end of its path. */
export function secretUrl(base: string, path: string, secret: string): string {
  const url = new URL(base);
  const start = url.pathname === '/' ? path : url.pathname;
  url.pathname = `${start.replace(/\/+$/, '')}/${secret}`;
  url.hash = '';
  return url.href;
}

interface WebhookLoanOptions {
  /** For calls during the session, which end with it. */
  readonly service: Transport;
  /** For giving back, when the session is over. */
  readonly connect: Connect;
  readonly onExit: SessionResources['onExit'];
  readonly signal: AbortSignal;
  readonly runs: Runs;
  /** Every commit of it is durable. */
  readonly commits: GroupCommit;
  readonly callbacks: Pick<SessionCallbacks, 'onNote' | 'onWarning' | 'mayReplace'>;
}

/** Rarely sent for a real file, and every service can send it as a test. */
const TEST_EVENT = 'DIFFICULT_AUDIO';
const TEST_TIMEOUT_MS = 10_000;
const GIVE_BACK_TIMEOUT_MS = 5_000;

export class WebhookLoan {
  readonly #options: WebhookLoanOptions;
  #loan: Registration | undefined;
  #cancelCleanUp: () => void = () => {};

  constructor(options: WebhookLoanOptions) {
    this.#options = options;
  }

  /** Puts back the webhook of sessions that broke off. */
  async giveBackOld(): Promise<void> {
    const { service, runs, commits, signal, callbacks } = this.#options;
    const [first, ...later] = runs.unrestored();
    if (!first) return;
    try {
      // If several broke off one after the other, the first one knew what was there before all of them.
      await this.#restore(service, { ...(later.at(-1) ?? first), former: first.former });
      await commits.add(() => {
        for (const { run } of [first, ...later]) runs.markRestored(run);
      });
      callbacks.onNote('(a listener that broke off had left it changed)');
    } catch (error) {
      if (signal.aborted) throw error;
      callbacks.onWarning(
        `an earlier listener broke off, and its webhook can't be put back: ${errorMessage(error)}`,
      );
    }
  }

  async take(run: number, webhook: string): Promise<void> {
    const { service, runs, commits, onExit, signal, callbacks } = this.#options;
    const { url: former } = await getWebhook(service);
    if (former && !(await callbacks.mayReplace(former, signal))) {
      throw new StenoError('failed', 'the webhook was left as it is', { hint: 'listen without --register' });
    }
    const loan = { run, webhook, former };
    // Before it is set, so that a crash at any point leaves a trace.
    await commits.add(() => runs.recordWebhook(loan));
    this.#loan = loan;
    this.#cancelCleanUp = onExit(() => this.giveBack());
    await setWebhook(service, webhook);
    callbacks.onNote(`the webhook is ${webhook} while this runs`);
  }

  /** Has the service send a test event, and says whether it came. */
  async test(inbox: Inbox): Promise<void> {
    const { service, signal, callbacks } = this.#options;
    const started = monotonicMs();
    const arrived = inbox.expectTest(TEST_EVENT);
    try {
      await testWebhook(service, TEST_EVENT);
      await Promise.race([arrived, sleep(TEST_TIMEOUT_MS, signal).then(throwTestTimeout)]);
      callbacks.onNote(`a test event arrived after ${Math.round(monotonicMs() - started)} ms`);
    } catch (error) {
      if (signal.aborted) return;
      const hint = 'does the public URL lead to this port?';
      callbacks.onWarning(`no test event arrived: ${errorMessage(error)}`, hint);
    } finally {
      inbox.expectNoTest();
    }
  }

  /** Puts the former webhook back if this session took it. Never throws: what fails is said in one line. */
  async giveBack(): Promise<void> {
    const loan = this.#loan;
    if (!loan) return;
    this.#loan = undefined;
    this.#cancelCleanUp();
    const timeout = AbortSignal.timeout(GIVE_BACK_TIMEOUT_MS);
    const former = this.#formerOf(loan);
    let service: Transport | undefined;
    try {
      service = await this.#options.connect(timeout);
      await this.#restore(service, { ...loan, former });
    } catch (error) {
      const why = timeout.aborted
        ? `no answer in ${formatDuration(GIVE_BACK_TIMEOUT_MS)}`
        : errorMessage(error);
      const hint = `the next steno listen does it${former ? `, or: steno webhook set ${former}` : ''}`;
      this.#options.callbacks.onWarning(`the webhook can't be put back: ${why}`, hint);
    } finally {
      await service?.close().catch(() => {});
    }
  }

  /** Another listener may have handed its own former webhook on; without the ledger our own knowledge has to do. */
  #formerOf({ run, former }: Registration): string {
    try {
      return this.#options.runs.formerWebhook(run) ?? former;
    } catch {
      return former;
    }
  }

  /** Sets the former webhook, unless another one was set meanwhile. */
  async #restore(service: Transport, { run, webhook, former }: Registration): Promise<void> {
    const { runs, callbacks } = this.#options;
    const { url } = await getWebhook(service);
    if (!leadsTo(url, webhook)) {
      callbacks.onNote(`the webhook is ${url || 'not set'} by now and is left so`);
      await this.#write(() => runs.passOnFormerWebhook({ run, webhook, former }));
    } else if (former) {
      await setWebhook(service, former);
      callbacks.onNote(`the webhook is ${former} again`);
    } else {
      await this.#clear(service);
    }
    await this.#write(() => runs.markRestored(run));
  }

  /** The webhook itself is as it should be by then: a failing ledger is only worth a warning. */
  async #write(work: () => void): Promise<void> {
    try {
      await this.#options.commits.add(work);
    } catch (error) {
      this.#options.callbacks.onWarning(`the ledger does not know of that: ${errorMessage(error)}`);
    }
  }

  /** The API document has no call to remove a webhook; an empty one is the likeliest way. */
  async #clear(service: Transport): Promise<void> {
    const { onNote, onWarning } = this.#options.callbacks;
    try {
      await setWebhook(service, '');
      onNote('no webhook is set, as before');
    } catch (error) {
      const status = error instanceof StenoError ? (error.status ?? 0) : 0;
      if (status < 400 || status >= 500) throw error;
      onWarning(
        'the webhook can not be removed: it still leads to this listener, which is ending',
        'set another with: steno webhook set <url>',
      );
    }
  }
}

function throwTestTimeout(): never {
  throw new StenoError('timeout', `it did not come in ${formatDuration(TEST_TIMEOUT_MS)}`);
}

/** The service may spell a URL in its own way; the secret at its end stays as it is. */
const leadsTo = (url: string, webhook: string): boolean =>
  url.includes(webhook.slice(webhook.lastIndexOf('/') + 1));
