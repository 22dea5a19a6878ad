/** Borrows the account's webhook: sets it to the receiver while a session runs, and puts the former one back. */
import { randomBytes } from 'node:crypto';
import { getWebhook, setWebhook, testWebhook } from '../api/account.ts';
import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Loan, loanOfUrl, setCommand, WebhookLoans } from '../ledger/webhook-loans.ts';
import { monotonicMs } from '../lib/clock.ts';
import { formatDuration } from '../lib/duration.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { shownWebhook } from '../lib/shown-webhook.ts';
import { sleep } from '../lib/sleep.ts';
import { Duty } from './duty.ts';
import type { GroupCommit, Work } from './group-commit.ts';
import type { Inbox } from './inbox.ts';
import type { Holder, LoanBook, OwnLoan } from './loan-book.ts';
import type { Connect, SessionCallbacks, SessionResources } from './session-options.ts';
import type { SessionRun } from './session-run.ts';

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
  readonly book: LoanBook;
  readonly ledger: Ledger;
  readonly run: SessionRun;
  /** Every commit of it is durable. */
  readonly commits: GroupCommit;
  readonly callbacks: Pick<SessionCallbacks, 'onNote' | 'onNotice' | 'onWarning' | 'mayReplace'>;
}

/** Rarely sent for a real file, and every service can send it as a test. */
const TEST_EVENT = 'DIFFICULT_AUDIO';
const TEST_TIMEOUT_MS = 10_000;
const GIVE_BACK_TIMEOUT_MS = 5_000;
const MAX_MARK_MS = 1_000;
/** How long another listener that changes the webhook is waited for. */
const MAX_WAIT_MS = { toTake: 10_000, toGiveBack: 2_000 };

export class WebhookLoan {
  readonly #options: WebhookLoanOptions;
  /** Loans of ended listeners that were looked into. */
  readonly #judged = new Set<number>();
  /** By loan: the heartbeat of its listener when this session first saw it. */
  readonly #firstSeen = new Map<number, string>();
  #own: OwnLoan | undefined;
  /** The service has confirmed that it is set. */
  #isSet = false;
  #tending: Promise<void> | undefined;
  #cancelCleanUp: () => void = () => {};

  constructor(options: WebhookLoanOptions) {
    this.#options = options;
  }

  /** Sees to what listeners borrowed that ended without giving it back; to be called now and then. */
  tend(): Promise<void> {
    this.#tending ??= this.#tend().finally(() => {
      this.#tending = undefined;
    });
    return this.#tending;
  }

  async #tend(): Promise<void> {
    const { service, signal, callbacks } = this.#options;
    const left = (await this.#read()).filter(
      (loan) => !this.#mayBeLiving(loan) && !this.#judged.has(loan.id),
    );
    if (left.length === 0) return;
    const duty = await this.#duty();
    if (!(await duty.take())) return;
    try {
      await this.#settle(service);
      for (const { id } of left) this.#judged.add(id);
    } catch (error) {
      if (signal.aborted) throw error;
      callbacks.onWarning(
        `an earlier listener broke off, and its webhook can't be put back: ${errorMessage(error)}`,
      );
    } finally {
      await duty.leave();
    }
  }

  async take(webhook: string): Promise<void> {
    const duty = await this.#duty();
    await duty.takeWithin(MAX_WAIT_MS.toTake, this.#options.signal);
    try {
      await this.#take(webhook);
    } finally {
      await duty.leave();
    }
  }

  /** Listeners that change the webhook at the same time would undo each other's changes: one after the other does. */
  async #duty(): Promise<Duty> {
    const { book } = this.#options;
    return new Duty({ ...this.#options, name: `webhook ${await book.accountMark()}`, onlyIfShared: true });
  }

  async #take(webhook: string): Promise<void> {
    const { run, service, book, commits, onExit, signal, callbacks } = this.#options;
    const { url: former } = await getWebhook(service);
    if (former && !(await callbacks.mayReplace(shownWebhook(former), signal))) {
      throw new StenoError('failed', 'the webhook was left as it is', { hint: 'listen without --register' });
    }
    const { add, loan } = await book.prepare(webhook, former);
    // Before it is set, so that a crash at any point leaves a trace.
    this.#own = { ...loan, id: await commits.add((tables) => add(tables, run.id)) };
    this.#cancelCleanUp = onExit(() => this.giveBack());
    await setWebhook(service, webhook);
    this.#isSet = true;
    callbacks.onNotice(`the webhook is ${shownWebhook(webhook)} while this runs`);
  }

  /** Has the service send a test event, and says whether it came: also of one that comes late. */
  async test(inbox: Inbox): Promise<void> {
    const { service, signal, callbacks } = this.#options;
    const started = monotonicMs();
    const arrived = inbox.expectTest(TEST_EVENT).then((isTest) => {
      const after = `after ${Math.round(monotonicMs() - started)} ms`;
      callbacks.onNote(isTest ? `a test event arrived ${after}` : `the first event arrived ${after}`);
    });
    try {
      await testWebhook(service, TEST_EVENT);
      await Promise.race([arrived, sleep(TEST_TIMEOUT_MS, signal).then(throwTestTimeout)]);
    } catch (error) {
      if (signal.aborted) return;
      const hint = 'does the public URL lead to this port?';
      callbacks.onWarning(`no test event arrived: ${errorMessage(error)}`, hint);
    }
  }

  /** Puts the former webhook back if this session took it. Never throws: what fails is said in one line. */
  async giveBack(): Promise<void> {
    const own = this.#own;
    if (!own) return;
    this.#own = undefined;
    this.#cancelCleanUp();
    const { connect, callbacks } = this.#options;
    await this.#markLeaving(own);
    const duty = await this.#duty();
    // Giving back does not wait for a ledger that can't be reached.
    await duty.takeWithin(MAX_WAIT_MS.toGiveBack).catch(() => {});
    const timeout = AbortSignal.timeout(GIVE_BACK_TIMEOUT_MS);
    let service: Transport | undefined;
    try {
      service = await connect(timeout);
      await this.#settle(service, own);
      // A call that was broken off may still set it, and what another key has sealed can be read with that one.
      if (this.#isSet && own.former !== undefined)
        await this.#write((tables) => new WebhookLoans(tables).remove([own.id]));
    } catch (error) {
      const limit = formatDuration(GIVE_BACK_TIMEOUT_MS);
      const why = timeout.aborted ? `no answer in ${limit}` : errorMessage(error);
      const hint = `the next steno listen does it${own.former ? `, or: ${setCommand(own.former)}` : ''}`;
      callbacks.onWarning(`the webhook can't be put back: ${why}`, hint);
    } finally {
      await service?.close().catch(() => {});
      await duty.leave();
    }
  }

  /**
   * Where the webhook leads to a listener that has ended, or to this one, which is `leaving`: hands it to the newest
   * listener of the account that is running, or else puts the former one back.
   */
  async #settle(service: Transport, leaving?: OwnLoan): Promise<void> {
    const gone: Holder[] = leaving ? [leaving] : [];
    for (let isSettled = false; !isSettled; ) isSettled = await this.#trySettle(service, gone, leaving);
  }

  /** False where the listener that it was handed to has ended meanwhile, which is then among those that are `gone`. */
  async #trySettle(service: Transport, gone: Holder[], leaving?: OwnLoan): Promise<boolean> {
    const { onNote } = this.#options.callbacks;
    const { url } = await getWebhook(service);
    const loans = await this.#read();
    const holder = loanOfUrl(url, [...gone, ...(await this.#endedIn(loans))]);
    if (!holder) {
      if (leaving) onNote(`the webhook is ${shownWebhook(url) || 'not set'} by now and is left so`);
      await this.#forget(loans, leaving);
      return true;
    }
    const heir = await this.#heirAmong(loans.filter((loan) => !gone.some(({ id }) => id === loan.id)));
    const isRight = heir ? await this.#handTo(service, heir) : await this.#restore(service, holder.former);
    if (!isRight && heir) gone.push(await this.#asHolder(heir));
    if (!isRight) return heir === undefined;
    if (holder !== leaving) onNote('(a listener that broke off had left it changed)');
    await this.#forget(loans, leaving, holder);
    return true;
  }

  /** One that ends in this very moment may have seen another webhook than its own, and have left that alone. */
  async #handTo(service: Transport, heir: Loan): Promise<boolean> {
    const address = await this.#addressOf(heir);
    if (!address) return false;
    await setWebhook(service, address);
    const now = (await this.#read()).filter((loan) => loan.id === heir.id);
    const isThere = (await this.#heirAmong(now)) !== undefined;
    const whose = heir.id === this.#own?.id ? 'this' : 'another';
    if (isThere) this.#options.callbacks.onNote(`the webhook leads to ${whose} listener again`);
    return isThere;
  }

  #endedIn(loans: readonly Loan[]): Promise<Holder[]> {
    const ended = loans.filter((loan) => !this.#mayBeLiving(loan));
    return Promise.all(ended.map((loan) => this.#asHolder(loan)));
  }

  async #asHolder(loan: Loan): Promise<Holder> {
    return { id: loan.id, secretHash: loan.secretHash, former: await this.#options.book.formerOf(loan) };
  }

  /** What is settled: loans of the account whose listeners have ended, and the one that held the webhook. */
  async #forget(loans: readonly Loan[], leaving?: Holder, holder?: Holder): Promise<void> {
    const { book } = this.#options;
    const over: number[] = [];
    for (const loan of loans) {
      if (loan.id === leaving?.id || this.#mayBeLiving(loan)) continue;
      if (loan.id === holder?.id || (await book.isOurs(loan))) over.push(loan.id);
    }
    if (over.length) await this.#write((tables) => new WebhookLoans(tables).remove(over));
  }

  async #restore(service: Transport, former: string | undefined): Promise<boolean> {
    const { onNote, onWarning } = this.#options.callbacks;
    if (former === undefined) {
      onWarning(
        'the webhook leads to a listener that has ended; it is left so, because the URL before it is encrypted with ' +
          'another API key',
        'set it with: steno webhook set <url>   (or run steno listen with the key of then)',
      );
      return false;
    }
    if (former) {
      await setWebhook(service, former);
      onNote(`the webhook is ${shownWebhook(former)} again`);
    } else await this.#clear(service);
    return true;
  }

  /** Without the ledger our own knowledge has to do. */
  async #read(): Promise<Loan[]> {
    try {
      const loans = await this.#options.book.all();
      for (const { id, seenAt } of loans) if (!this.#firstSeen.has(id)) this.#firstSeen.set(id, seenAt);
      return loans;
    } catch {
      return [];
    }
  }

  /** Two listeners that end in the same moment must not hand the webhook to each other. */
  async #markLeaving({ id }: OwnLoan): Promise<void> {
    const { commits } = this.#options;
    const marked = commits.add((tables) => new WebhookLoans(tables).markLeaving(id)).catch(() => {});
    // Giving back does not wait for a ledger that stays locked.
    const isMarked = new AbortController();
    await Promise.race([marked, sleep(MAX_MARK_MS, isMarked.signal).catch(() => {})]);
    isMarked.abort();
  }

  #mayBeLiving(loan: Loan): boolean {
    return loan.id === this.#own?.id || loan.isRunning;
  }

  /** Where it can't be certain, a heartbeat that came meanwhile is proof: a container may have got another name. */
  async #isHeir(loan: Loan): Promise<boolean> {
    if (loan.id === this.#own?.id) return true;
    const isProved = loan.isCertain || loan.seenAt !== this.#firstSeen.get(loan.id);
    return loan.isRunning && isProved && this.#options.book.isOurs(loan);
  }

  /** The newest of them. */
  async #heirAmong(loans: readonly Loan[]): Promise<Loan | undefined> {
    for (const loan of [...loans].reverse()) if (await this.#isHeir(loan)) return loan;
    return undefined;
  }

  async #addressOf(loan: Loan): Promise<string | undefined> {
    return loan.id === this.#own?.id ? this.#own.url : this.#options.book.addressOf(loan);
  }

  /** The webhook itself is as it should be by then: a failing ledger is only worth a warning. */
  async #write(work: Work<unknown>): Promise<void> {
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
        'the webhook can not be removed: it still leads to a listener that ends or has ended',
        'set another with: steno webhook set <url>',
      );
    }
  }
}

function throwTestTimeout(): never {
  throw new StenoError('timeout', `it did not come in ${formatDuration(TEST_TIMEOUT_MS)}`);
}
