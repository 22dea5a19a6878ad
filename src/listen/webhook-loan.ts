/** The account's webhook, borrowed while a listener runs: set to its address, and put back at the end. */
import { randomBytes } from 'node:crypto';
import type { Transport } from '../api/http/transport.ts';
import { getWebhook, setWebhook, testWebhook } from '../api/webhook.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Registration } from '../ledger/runs.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { sleep } from '../lib/sleep.ts';
import type { Inbox } from './inbox.ts';

/** 192 bits, as one step of a path. */
export const secretStep = (): string => randomBytes(24).toString('base64url');

/** An address with the secret at its end. */
export function secretAddress(base: string, path: string, secret: string): string {
  const url = new URL(base);
  const start = url.pathname === '/' ? path : url.pathname;
  url.pathname = `${start.replace(/\/+$/, '')}/${secret}`;
  url.hash = '';
  return url.href;
}

export interface LoanParts {
  readonly transport: Transport;
  /** A way to the service that an interruption does not cut. */
  readonly farewell: () => Promise<Transport>;
  readonly ledger: Ledger;
  /** Has something undone when the program ends, also when it crashes; gives back what cancels that. */
  readonly onExit: (cleanUp: () => Promise<void>) => () => void;
  readonly note: (text: string) => void;
  readonly warn: (text: string, hint?: string) => void;
  /** Is asked before another address is replaced. */
  readonly mayReplace: (former: string) => Promise<boolean>;
}

/** Rare in earnest, and every service can send one. */
const TEST = 'DIFFICULT_AUDIO';
const TEST_PATIENCE = 10_000;

export class WebhookLoan {
  readonly #parts: LoanParts;
  #loan: Registration | undefined;
  #cancelCleanUp: () => void = () => {};

  constructor(parts: LoanParts) {
    this.#parts = parts;
  }

  /** Puts back what listeners that broke off could not. */
  async settleOld(): Promise<void> {
    const { transport, ledger, note, warn } = this.#parts;
    const [first, ...later] = ledger.runs.unrestored();
    if (!first) return;
    try {
      // If several broke off one after the other, the first knew what stood there before all of them.
      await this.#restore(transport, { ...(later.at(-1) ?? first), former: first.former });
      for (const { run } of [first, ...later]) ledger.runs.markRestored(run);
      note('(a listener that broke off had left it changed)');
    } catch (error) {
      warn(`an earlier listener broke off, and its webhook can't be put back: ${errorMessage(error)}`);
    }
  }

  async take(run: number, webhook: string): Promise<void> {
    const { transport, ledger, onExit, mayReplace, note } = this.#parts;
    const { url: former } = await getWebhook(transport);
    if (former && !(await mayReplace(former))) {
      throw new StenoError('failed', 'the webhook was left as it is', { hint: 'listen without --register' });
    }
    this.#loan = { run, webhook, former };
    // Before it is set, so that a crash at any point leaves a trace.
    ledger.runs.recordWebhook(this.#loan);
    this.#cancelCleanUp = onExit(() => this.giveBack());
    await setWebhook(transport, webhook);
    note(`the webhook is ${webhook} while this runs`);
  }

  /** Has the service send a test, and tells whether it came. */
  async test(inbox: Inbox, signal: AbortSignal): Promise<void> {
    const { transport, note, warn } = this.#parts;
    const started = Date.now();
    const arrived = inbox.expectTest(TEST);
    try {
      await testWebhook(transport, TEST);
      await Promise.race([arrived, sleep(TEST_PATIENCE, signal).then(tooLate)]);
      note(`a test event arrived after ${Date.now() - started} ms`);
    } catch (error) {
      if (!signal.aborted)
        warn(`no test event arrived: ${errorMessage(error)}`, 'does the public URL lead to this port?');
    } finally {
      inbox.expectNoTest();
    }
  }

  async giveBack(): Promise<void> {
    const { farewell, warn } = this.#parts;
    if (!this.#loan) return;
    let transport: Transport | undefined;
    try {
      transport = await farewell();
      const former = this.#parts.ledger.runs.formerWebhook(this.#loan.run) ?? this.#loan.former;
      await this.#restore(transport, { ...this.#loan, former });
    } catch (error) {
      const { former } = this.#loan;
      warn(
        `the webhook can't be put back: ${errorMessage(error)}`,
        `the next steno listen does it${former ? `, or: steno webhook set ${former}` : ''}`,
      );
    } finally {
      this.#cancelCleanUp();
      await transport?.close();
    }
  }

  /** Puts the former address back, unless somebody has set another meanwhile. */
  async #restore(transport: Transport, { run, webhook, former }: Registration): Promise<void> {
    const { ledger, note } = this.#parts;
    const { url } = await getWebhook(transport);
    if (!leadsHere(url, webhook)) {
      ledger.runs.passOnFormerWebhook({ run, webhook, former });
      note(`the webhook is ${url || 'not set'} by now and is left so`);
    } else if (former) {
      await setWebhook(transport, former);
      note(`the webhook is ${former} again`);
    } else {
      await this.#takeAway(transport);
    }
    ledger.runs.markRestored(run);
  }

  /** The document knows no way to take a webhook away; an empty one is the likeliest. */
  async #takeAway(transport: Transport): Promise<void> {
    const { note, warn } = this.#parts;
    try {
      await setWebhook(transport, '');
      note('no webhook is set, as before');
    } catch (error) {
      const { status = 0 } = error as StenoError;
      if (status < 400 || status >= 500) throw error;
      warn('the webhook can not be taken away: it leads to where nobody listens', SET_ANOTHER);
    }
  }
}

const SET_ANOTHER = 'set another with: steno webhook set <url>';

function tooLate(): never {
  throw new StenoError('timeout', 'it did not come in 10s');
}

/** The service may spell an address in its own way; the secret at its end stays as it is. */
const leadsHere = (url: string, webhook: string): boolean =>
  url.includes(webhook.slice(webhook.lastIndexOf('/') + 1));
