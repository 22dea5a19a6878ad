import { type ClientRequest, request as overHttp, type RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../lib/clock.ts';
import type { Database } from '../lib/sqlite.ts';
import { readClock } from './store.ts';
import { discardDueEvents, readWebhook } from './webhook.ts';

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

/** Resolves when a response has come, whatever it says, or when none will. */
async function post(url: string, form: string, stop: AbortSignal): Promise<void> {
  try {
    const send = url.toLowerCase().startsWith('https:') ? (await import('node:https')).request : overHttp;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]);
    await exchange((options) => send(url, options), form, signal);
  } catch {
    // The service sends an event once, so a failure is not repeated.
  }
}

function exchange(
  open: (options: RequestOptions) => ClientRequest,
  form: string,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(form),
      'user-agent': 'steno-sandbox',
    };
    const request = open({ method: 'POST', agent: false, signal, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('close', resolve).on('error', reject).resume();
    });
    request.end(form);
  });
}
