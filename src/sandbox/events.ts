import { setTimeout as sleep } from 'node:timers/promises';
import { testableEvents } from '../catalog/events.ts';
import type { Database } from '../lib/sqlite.ts';
import { monotonicMs } from '../lib/time.ts';
import { isUrl } from '../lib/url.ts';
import { Refusal } from './calls.ts';
import type { Subject } from './files.ts';
import { insert, readClock, SAMPLE, type ServiceContext } from './store.ts';

export function readWebhook(db: Database): string | null {
  return db.get<{ value: string }>("SELECT value FROM settings WHERE name = 'webhook'")?.value ?? null;
}

/** Registers a URL; an empty one removes the webhook. */
export function setWebhook({ db, now }: ServiceContext, url: string): void {
  if (url !== '' && !isWebUrl(url)) throw new Refusal(400, `'${url}' is not an HTTP or HTTPS URL.`);
  if (readWebhook(db) === null) discardDueEvents(db, now);
  if (url === '') db.run("DELETE FROM settings WHERE name = 'webhook'");
  else db.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('webhook', ?)", url);
}

/** Events that became due while no URL was registered are never sent. */
export function discardDueEvents(db: Database, now: number): void {
  db.run('UPDATE events SET claimed = ? WHERE claimed IS NULL AND due <= ?', now, now);
}

export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(text) && isUrl(text);
}

const WEBHOOK_VERSION = '1';

export type Fields = Readonly<Record<string, string>>;

/** Adds an event that is sent when the step begins. */
export function addEvent(db: Database, subject: Subject, step: number, name: string, fields: Fields): void {
  insert(db, 'events', { subject, step, form: encodeForm(name, fields) });
}

/** Adds a test delivery, due at once. */
export function addTestEvent({ db, now }: ServiceContext, name: string): void {
  if (!testableEvents.includes(name)) {
    throw new Refusal(400, `'${name}' can't be tested: the type is one of ${testableEvents.join(', ')}.`);
  }
  if (readWebhook(db) === null)
    throw new Refusal(400, 'No webhook is registered: there is nowhere to send a test.');
  insert(db, 'events', {
    subject: 'test',
    step: 0,
    form: encodeForm(name, testFields[name] ?? {}),
    due: now,
  });
}

function encodeForm(name: string, fields: Fields): string {
  return new URLSearchParams({ webhook_version: WEBHOOK_VERSION, event: name, ...fields }).toString();
}

const { audiofile, order, link } = SAMPLE;
const testFields: Readonly<Record<string, Fields>> = {
  TRANSCRIPT_COMPLETE: { audiofile, order, originallink: link },
  DIFFICULT_AUDIO: { audiofile, order },
  REFUND_ISSUED: { amount: '1.00', audiofile, order, original_transaction: '70001', transaction: '70002' },
  ORDER_ON_HOLD: { order, audiofiles: '100,101', hold: 'billing', skus: 'TRANS14' },
};

const POLL_INTERVAL_MS = 100;
const MAX_CONCURRENT = 16;
const RESPONSE_TIMEOUT_MS = 10_000;
const DRAIN_TIMEOUT_MS = 3_000;

interface Delivery {
  readonly url: string;
  readonly form: string;
}

/** Sends due events to the webhook, each once: an event is marked as claimed before it is sent. */
export class EventSender {
  readonly #db: Database;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  start(): void {
    this.#timer = setInterval(() => this.sendDue(), POLL_INTERVAL_MS);
    this.#timer.unref();
    this.sendDue();
  }

  /** Returns how many deliveries were started. */
  sendDue(): number {
    const deliveries = this.#claim(MAX_CONCURRENT - this.#inFlight.size);
    for (const { url, form } of deliveries) {
      const sending: Promise<void> = post(url, form, this.#stop.signal).finally(() => {
        this.#inFlight.delete(sending);
        if (this.#timer) this.sendDue();
      });
      this.#inFlight.add(sending);
    }
    return deliveries.length;
  }

  /** Sends what is due by now, and waits for it up to DRAIN_TIMEOUT_MS. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const deadline = monotonicMs() + DRAIN_TIMEOUT_MS;
    while ((this.sendDue() > 0 || this.#inFlight.size > 0) && monotonicMs() < deadline) {
      await Promise.race([...this.#inFlight, sleep(deadline - monotonicMs(), undefined, { ref: false })]);
    }
    this.#stop.abort();
  }

  #claim(limit: number): Delivery[] {
    try {
      return limit > 0 && anyDue(this.#db) ? claim(this.#db, limit) : [];
    } catch {
      // Another process has locked the database; the next poll tries again.
      return [];
    }
  }
}

const anyDue = (db: Database): boolean =>
  db.get('SELECT 1 FROM events WHERE claimed IS NULL AND due <= ? LIMIT 1', readClock(db)) !== undefined;

function claim(db: Database, limit: number): Delivery[] {
  return db.transaction(() => {
    const now = readClock(db);
    const url = readWebhook(db);
    if (url === null) {
      discardDueEvents(db, now);
      return [];
    }
    const events = db.all<{ id: number; form: string }>(
      'SELECT id, form FROM events WHERE claimed IS NULL AND due <= ? ORDER BY due, id LIMIT ?',
      now,
      limit,
    );
    for (const { id } of events) db.run('UPDATE events SET claimed = ? WHERE id = ?', now, id);
    return events.map(({ form }) => ({ url, form }));
  });
}

/** Resolves when a response has come, whatever it says, or when none will: the service sends an event once. */
async function post(url: string, body: string, stop: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]);
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'steno-sandbox',
    connection: 'close',
  };
  await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal })
    .then((response) => response.body?.cancel())
    .catch(() => {});
}
