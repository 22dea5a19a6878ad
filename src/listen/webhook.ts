/** Registers the receiver as the account's webhook while a session runs, and puts the previous one back. */

import { randomBytes } from 'node:crypto';
import { getWebhook, setWebhook, testWebhook } from '../api/account.ts';
import type { Transport } from '../api/http/transport.ts';
import {
  putBack,
  type ReplacedWebhook,
  ReplacedWebhooks,
  restoredText,
  setCommand,
} from '../flows/webhook.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { shownWebhook } from '../lib/signatures.ts';
import { formatDuration, monotonicMs, sleep } from '../lib/time.ts';
import type { Inbox } from './inbox.ts';
import type { Connect } from './plan.ts';
import type { SessionContext } from './session-run.ts';

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

/** Rarely sent for a real file, and every service can send it as a test. */
const TEST_EVENT = 'DIFFICULT_AUDIO';
const TEST_TIMEOUT_MS = 10_000;
const PUT_BACK_TIMEOUT_MS = 5_000;

export class WebhookRegistration {
  readonly #session: SessionContext;
  /** Its calls end with the session. */
  readonly #service: Transport;
  /** For putting back, when the session is over. */
  readonly #connect: Connect;
  readonly #webhooks: ReplacedWebhooks;
  #own: ReplacedWebhook | undefined;
  /** The service has confirmed that it is set. */
  #isSet = false;
  #cancelCleanUp: () => void = () => {};

  constructor(session: SessionContext, service: Transport, connect: Connect) {
    this.#session = session;
    this.#service = service;
    this.#connect = connect;
    this.#webhooks = new ReplacedWebhooks(session.resources.env);
  }

  async register(webhook: string): Promise<void> {
    const { resources, end, callbacks } = this.#session;
    const { url: now } = await this.#awaited(getWebhook(this.#service));
    const former = this.#webhooks.former(now);
    if (former.ended.length)
      callbacks.onNote('a listener that crashed did not restore the previous webhook; this one will');
    else if (now && !(await callbacks.mayReplace(shownWebhook(now), end.signal)))
      throw new StenoError('failed', 'the webhook was left unchanged', { hint: 'listen without --register' });
    this.#own = await this.#webhooks.add(webhook, former.url);
    this.#cancelCleanUp = resources.onExit(() => this.putBack());
    await this.#awaited(setWebhook(this.#service, webhook));
    this.#isSet = true;
    for (const each of former.ended) this.#webhooks.forget(each);
    callbacks.onNotice(`the webhook is ${shownWebhook(webhook)} while this runs`);
  }

  /** Where the time runs out meanwhile, the user is told what it was spent on. */
  async #awaited<T>(answer: Promise<T>): Promise<T> {
    const { end } = this.#session;
    end.waitsFor = () => {
      const { lastRetried } = this.#service;
      return `the webhook is not registered: ${lastRetried?.message ?? 'the service did not answer'}`;
    };
    const answered = await answer;
    end.waitsFor = undefined;
    return answered;
  }

  /** Has the service send a test event, and says whether it came: also of one that comes late. */
  async test(inbox: Inbox): Promise<void> {
    const { end, callbacks } = this.#session;
    const started = monotonicMs();
    const arrived = inbox.expectTest(TEST_EVENT).then((isTest) => {
      const after = `after ${Math.round(monotonicMs() - started)} ms`;
      callbacks.onNote(isTest ? `a test event arrived ${after}` : `the first event arrived ${after}`);
    });
    try {
      await testWebhook(this.#service, TEST_EVENT);
      await Promise.race([arrived, sleep(TEST_TIMEOUT_MS, end.signal).then(throwTestTimeout)]);
    } catch (error) {
      if (end.signal.aborted) return;
      const hint = 'check that the public URL leads to this port';
      callbacks.onWarning(`no test event arrived: ${errorMessage(error)}`, hint);
    }
  }

  /** Puts the previous webhook back if this session has set its own. Never throws: what fails is said in one line. */
  async putBack(): Promise<void> {
    const own = this.#own;
    if (!own) return;
    this.#own = undefined;
    this.#cancelCleanUp();
    const { onNote, onWarning } = this.#session.callbacks;
    const timeout = AbortSignal.timeout(PUT_BACK_TIMEOUT_MS);
    let service: Transport | undefined;
    try {
      service = await this.#connect(timeout);
      const { url, isPutBack } = await putBack(service, this.#webhooks, own);
      if (isPutBack) return onNote(restoredText(url));
      onNote(`the webhook is now ${shownWebhook(url) || 'not set'}; left unchanged`);
      // A call that was broken off may still set it.
      if (this.#isSet) this.#webhooks.forget(own);
    } catch (error) {
      const limit = formatDuration(PUT_BACK_TIMEOUT_MS);
      const why = timeout.aborted ? `no answer within ${limit}` : errorMessage(error);
      onWarning(
        `the previous webhook can't be restored: ${why}`,
        `the next steno listen --register, or steno doctor, restores it; or: ${setCommand(own.previous, this.#session.resources.hide)}`,
      );
    } finally {
      await service?.close().catch(() => {});
    }
  }
}

function throwTestTimeout(): never {
  throw new StenoError('timeout', `it did not arrive within ${formatDuration(TEST_TIMEOUT_MS)}`);
}
