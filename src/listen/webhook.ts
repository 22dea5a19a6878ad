/** Registers the receiver as the account's webhook while a session runs, and puts the previous one back. */

import { randomBytes } from 'node:crypto';
import { getWebhook, setWebhook, testWebhook } from '../api/account.ts';
import type { Transport } from '../api/http/transport.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Properties } from '../ledger/properties.ts';
import {
  type Registration,
  registrationOfUrl,
  secretHashOf,
  setCommand,
  WebhookRegistrations,
} from '../ledger/webhook-registrations.ts';
import { errorMessage, StenoError } from '../lib/errors.ts';
import { isSealed, Sealer } from '../lib/sealer.ts';
import { shownWebhook } from '../lib/signatures.ts';
import { formatDuration, monotonicMs, sleep } from '../lib/time.ts';
import type { Commits, Work } from './commits.ts';
import type { Inbox } from './inbox.ts';
import type { Account, Connect } from './plan.ts';
import { LeaderTask, type SessionContext, type SessionRun } from './session-run.ts';

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

/** A listener that the webhook may lead to. */
interface Holder {
  readonly id: number;
  readonly secretHash: string;
  /** Where it is reached, and what it has to put back; undefined where another key has sealed that. */
  readonly url: string | undefined;
  readonly previousUrl: string | undefined;
}

interface KnownRegistration extends Registration, Holder {
  readonly isOurs: boolean;
}

/** What the ledger knows of webhooks that listeners have set, as one account sees it. URLs with a secret are sealed. */
export class AccountWebhooks {
  readonly #ledger: Ledger;
  readonly #account: Account;
  readonly #hide: (text: string) => string;
  #sealer: Sealer | undefined;

  constructor(ledger: Ledger, account: Account, hide: (text: string) => string) {
    this.#ledger = ledger;
    this.#account = account;
    this.#hide = hide;
  }

  /** Still sealed: to derive the key of the seal takes its time. */
  rows(): Promise<Registration[]> {
    return new WebhookRegistrations(this.#ledger).all();
  }

  async opened(rows: readonly Registration[]): Promise<KnownRegistration[]> {
    const mark = await this.mark();
    const sealer = await this.#sealing();
    return rows.map((row) => ({
      ...row,
      isOurs: row.account === mark,
      url: openUrl(row.address, sealer),
      previousUrl: openUrl(row.previous, sealer),
    }));
  }

  /** To be written before the webhook is set; where it leads to a listener, what that one has to put back counts. */
  async add(url: string, webhookNow: string, commits: Commits, run: SessionRun): Promise<Holder> {
    const before = registrationOfUrl(webhookNow, await this.rows());
    const sealer = await this.#sealing();
    const previous = before ? before.previous : this.#sealIfSecret(sealer, webhookNow);
    const secretHash = secretHashOf(url);
    const row = { account: await this.mark(), secretHash, address: sealer.seal(url), previous };
    const id = await commits.add((tables) => new WebhookRegistrations(tables).add({ ...row, run: run.id }));
    return { id, secretHash, url, previousUrl: openUrl(previous, sealer) };
  }

  /** Removes every registration of the account; gives them as they were. */
  async forgetAll(): Promise<Registration[]> {
    const ours = (await this.opened(await this.rows())).filter(({ isOurs }) => isOurs);
    await this.#ledger.transaction((tables) =>
      new WebhookRegistrations(tables).remove(ours.map(({ id }) => id)),
    );
    return ours;
  }

  async #sealing(): Promise<Sealer> {
    this.#sealer ??= new Sealer(this.#account.apiKey, await new Properties(this.#ledger).salt());
    return this.#sealer;
  }

  /** Of the base URL and the key. */
  async mark(): Promise<string> {
    return (await this.#sealing()).mark(this.#account.baseUrl.replace(/\/+$/, ''));
  }

  #sealIfSecret(sealer: Sealer, url: string): string {
    return this.#hide(url) === url && shownWebhook(url) === url ? url : sealer.seal(url);
  }
}

const openUrl = (text: string, sealer: Sealer): string | undefined =>
  isSealed(text) ? sealer.open(text) : text;

interface WebhookOptions {
  /** For calls during the session, which end with it. */
  readonly service: Transport;
  /** For putting back, when the session is over. */
  readonly connect: Connect;
  readonly webhooks: AccountWebhooks;
}

/** Rarely sent for a real file, and every service can send it as a test. */
const TEST_EVENT = 'DIFFICULT_AUDIO';
const TEST_TIMEOUT_MS = 10_000;
const PUT_BACK_TIMEOUT_MS = 5_000;
const MAX_MARK_MS = 1_000;
/** How long another listener that changes the webhook is waited for. */
const MAX_WAIT_MS = { toRegister: 10_000, toPutBack: 2_000 };

export class WebhookRegistration {
  readonly #session: SessionContext;
  readonly #options: WebhookOptions;
  /** Registrations of ended listeners that were looked into. */
  readonly #settled = new Set<number>();
  /** By registration: the heartbeat of its listener when this session first saw it. */
  readonly #firstSeen = new Map<number, string>();
  #own: Holder | undefined;
  /** The service has confirmed that it is set. */
  #isSet = false;
  #tending: Promise<void> | undefined;
  #cancelCleanUp: () => void = () => {};

  constructor(session: SessionContext, options: WebhookOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Puts back what listeners set that ended without doing so; to be called now and then. */
  tend(): Promise<void> {
    this.#tending ??= this.#tend().finally(() => {
      this.#tending = undefined;
    });
    return this.#tending;
  }

  async #tend(): Promise<void> {
    const { end, callbacks, resources } = this.#session;
    const left = (await this.#rows()).filter((row) => !this.#mayBeRunning(row) && !this.#settled.has(row.id));
    if (left.length === 0) return;
    if (!resources.mayChangeWebhook) {
      for (const { id } of left) this.#settled.add(id);
      return callbacks.onWarning(
        'an earlier listener crashed and may have left its webhook set; this one is not allowed to restore it',
        'allow the effect account and run steno listen again, or: steno webhook set <url>',
      );
    }
    const task = await this.#task();
    if (!(await task.take())) return;
    try {
      await this.#settle(this.#options.service);
      for (const { id } of left) this.#settled.add(id);
    } catch (error) {
      if (end.signal.aborted) throw error;
      callbacks.onWarning(
        `an earlier listener crashed, and the previous webhook can't be restored: ${errorMessage(error)}`,
      );
    } finally {
      await task.leave();
    }
  }

  async register(webhook: string): Promise<void> {
    const task = await this.#task();
    await task.takeWithin(MAX_WAIT_MS.toRegister, this.#session.end.signal);
    try {
      await this.#register(webhook);
    } finally {
      await task.leave();
    }
  }

  /** Listeners that change the webhook at the same time would undo each other's changes: one after the other does. */
  async #task(): Promise<LeaderTask> {
    const name = `webhook ${await this.#options.webhooks.mark()}`;
    return new LeaderTask(this.#session, name, true);
  }

  async #register(webhook: string): Promise<void> {
    const { service, webhooks } = this.#options;
    const { run, commits, resources, end, callbacks } = this.#session;
    const { url: previous } = await getWebhook(service);
    if (previous && !(await callbacks.mayReplace(shownWebhook(previous), end.signal))) {
      throw new StenoError('failed', 'the webhook was left unchanged', { hint: 'listen without --register' });
    }
    // Before it is set, so that a crash at any point leaves a trace.
    this.#own = await webhooks.add(webhook, previous, commits, run);
    this.#cancelCleanUp = resources.onExit(() => this.putBack());
    await setWebhook(service, webhook);
    this.#isSet = true;
    callbacks.onNotice(`the webhook is ${shownWebhook(webhook)} while this runs`);
  }

  /** Has the service send a test event, and says whether it came: also of one that comes late. */
  async test(inbox: Inbox): Promise<void> {
    const { service } = this.#options;
    const { end, callbacks } = this.#session;
    const started = monotonicMs();
    const arrived = inbox.expectTest(TEST_EVENT).then((isTest) => {
      const after = `after ${Math.round(monotonicMs() - started)} ms`;
      callbacks.onNote(isTest ? `a test event arrived ${after}` : `the first event arrived ${after}`);
    });
    try {
      await testWebhook(service, TEST_EVENT);
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
    const { callbacks } = this.#session;
    await this.#markLeaving(own);
    const task = await this.#task();
    // Putting back does not wait for a ledger that can't be reached.
    await task.takeWithin(MAX_WAIT_MS.toPutBack).catch(() => {});
    const timeout = AbortSignal.timeout(PUT_BACK_TIMEOUT_MS);
    let service: Transport | undefined;
    try {
      service = await this.#options.connect(timeout);
      await this.#settle(service, own);
      // A call that was broken off may still set it, and what another key has sealed can be read with that one.
      if (this.#isSet && own.previousUrl !== undefined)
        await this.#write((tables) => new WebhookRegistrations(tables).remove([own.id]));
    } catch (error) {
      const limit = formatDuration(PUT_BACK_TIMEOUT_MS);
      const why = timeout.aborted ? `no answer within ${limit}` : errorMessage(error);
      const command = own.previousUrl ? `, or: ${setCommand(own.previousUrl)}` : '';
      callbacks.onWarning(
        `the previous webhook can't be restored: ${why}`,
        `the next steno listen restores it${command}`,
      );
    } finally {
      await service?.close().catch(() => {});
      await task.leave();
    }
  }

  /**
   * Where the webhook leads to a listener that has ended, or to this one, which is `leaving`: hands it to the newest
   * listener of the account that is running, or else puts the previous one back.
   */
  async #settle(service: Transport, leaving?: Holder): Promise<void> {
    const gone: Holder[] = leaving ? [leaving] : [];
    for (let isSettled = false; !isSettled; ) isSettled = await this.#trySettle(service, gone, leaving);
  }

  /** False where the listener that it was handed to has ended meanwhile, which is then among those that are `gone`. */
  async #trySettle(service: Transport, gone: Holder[], leaving?: Holder): Promise<boolean> {
    const { onNote } = this.#session.callbacks;
    const { url } = await getWebhook(service);
    const all = await this.#read();
    const ended = all.filter((each) => !this.#mayBeRunning(each));
    const holder = registrationOfUrl(url, [...gone, ...ended]);
    if (!holder) {
      if (leaving) onNote(`the webhook is now ${shownWebhook(url) || 'not set'}; left unchanged`);
    } else {
      const goneIds = gone.map(({ id }) => id);
      const successor = this.#newestRunning(all.filter(({ id }) => !goneIds.includes(id)));
      if (!(await this.#pointTo(service, successor, holder))) {
        if (successor) gone.push(successor);
        return successor === undefined;
      }
      if (holder !== leaving) onNote('(a listener that crashed had not restored it)');
    }
    // What is settled: registrations of the account whose listeners have ended, and the one that had the webhook.
    const over = ended.filter(({ id, isOurs }) => id !== leaving?.id && (isOurs || id === holder?.id));
    if (over.length)
      await this.#write((tables) => new WebhookRegistrations(tables).remove(over.map(({ id }) => id)));
    return true;
  }

  #pointTo(service: Transport, successor: KnownRegistration | undefined, holder: Holder): Promise<boolean> {
    return successor ? this.#handTo(service, successor) : this.#restore(service, holder.previousUrl);
  }

  /** One that ends in this very moment may have seen another webhook than its own, and have left that alone. */
  async #handTo(service: Transport, successor: KnownRegistration): Promise<boolean> {
    if (!successor.url) return false;
    await setWebhook(service, successor.url);
    const now = (await this.#read()).filter(({ id }) => id === successor.id);
    const isThere = this.#newestRunning(now) !== undefined;
    const whose = successor.id === this.#own?.id ? 'this' : 'another';
    if (isThere) this.#session.callbacks.onNote(`the webhook points to ${whose} listener again`);
    return isThere;
  }

  async #restore(service: Transport, previous: string | undefined): Promise<boolean> {
    const { onNote, onWarning } = this.#session.callbacks;
    if (previous === undefined) {
      onWarning(
        'the webhook points to a listener that has ended; left unchanged, because the previous URL is encrypted with ' +
          'another API key',
        'set it with: steno webhook set <url>   (or run steno listen with that key)',
      );
      return false;
    }
    if (previous) {
      await setWebhook(service, previous);
      onNote(`the webhook is ${shownWebhook(previous)} again`);
    } else await this.#clear(service);
    return true;
  }

  /** Without the ledger our own knowledge has to do. */
  async #rows(): Promise<Registration[]> {
    const rows = await this.#options.webhooks.rows().catch(() => []);
    for (const { id, seenAt } of rows) if (!this.#firstSeen.has(id)) this.#firstSeen.set(id, seenAt);
    return rows;
  }

  async #read(): Promise<KnownRegistration[]> {
    const rows = await this.#rows();
    return this.#options.webhooks.opened(rows).catch(() => []);
  }

  /** Two listeners that end in the same moment must not hand the webhook to each other. */
  async #markLeaving({ id }: Holder): Promise<void> {
    const { commits } = this.#session;
    const marked = commits.add((tables) => new WebhookRegistrations(tables).markLeaving(id)).catch(() => {});
    // Putting back does not wait for a ledger that stays locked.
    const isMarked = new AbortController();
    await Promise.race([marked, sleep(MAX_MARK_MS, isMarked.signal).catch(() => {})]);
    isMarked.abort();
  }

  #mayBeRunning({ id, isRunning }: Registration): boolean {
    return id === this.#own?.id || isRunning;
  }

  /**
   * The newest listener of the account that is running. Where it can't be certain, a heartbeat that came meanwhile is
   * proof: a container may have got another name.
   */
  #newestRunning(all: readonly KnownRegistration[]): KnownRegistration | undefined {
    return all.findLast(({ id, isRunning, isCertain, isOurs, seenAt }) => {
      if (id === this.#own?.id) return true;
      return isRunning && isOurs && (isCertain || seenAt !== this.#firstSeen.get(id));
    });
  }

  /** The webhook itself is as it should be by then: a failing ledger is only worth a warning. */
  async #write(work: Work<unknown>): Promise<void> {
    try {
      await this.#session.commits.add(work);
    } catch (error) {
      this.#session.callbacks.onWarning(`the ledger could not record this: ${errorMessage(error)}`);
    }
  }

  /** The API document has no call to remove a webhook; an empty one is the likeliest way. */
  async #clear(service: Transport): Promise<void> {
    const { onNote, onWarning } = this.#session.callbacks;
    try {
      await setWebhook(service, '');
      onNote('webhook removed (none was set before)');
    } catch (error) {
      const status = error instanceof StenoError ? (error.status ?? 0) : 0;
      if (status < 400 || status >= 500) throw error;
      onWarning(
        "the webhook can't be removed: it still points to a listener that is ending or has ended",
        'set another with: steno webhook set <url>',
      );
    }
  }
}

function throwTestTimeout(): never {
  throw new StenoError('timeout', `it did not arrive within ${formatDuration(TEST_TIMEOUT_MS)}`);
}
