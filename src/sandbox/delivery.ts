import { type ClientRequest, request as overHttp, type RequestOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../lib/sqlite.ts';
import { dropDue, readWebhook } from './webhook.ts';

const POLL_MS = 100;
const AT_ONCE = 16;
const ANSWER_MS = 10_000;
const FAREWELL_MS = 3_000;

interface Delivery {
  readonly url: string;
  readonly form: string;
}

/** Sends what is due, each event once: it is marked as sent before it leaves. */
export class Courier {
  readonly #db: Database;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  start(): void {
    this.#timer = setInterval(() => this.sendDue(), POLL_MS);
    this.#timer.unref();
    this.sendDue();
  }

  /** Tells how many were sent off. */
  sendDue(): number {
    const deliveries = this.#claim(AT_ONCE - this.#underWay.size);
    for (const { url, form } of deliveries) {
      const sending: Promise<void> = post(url, form, this.#stop.signal).finally(() => {
        this.#underWay.delete(sending);
        if (this.#timer) this.sendDue();
      });
      this.#underWay.add(sending);
    }
    return deliveries.length;
  }

  /** Sends what is due by now and lets it arrive, but not for ever. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const deadline = Date.now() + FAREWELL_MS;
    while ((this.sendDue() > 0 || this.#underWay.size > 0) && Date.now() < deadline) {
      await Promise.race([...this.#underWay, sleep(deadline - Date.now(), undefined, { ref: false })]);
    }
    this.#stop.abort();
  }

  #claim(room: number): Delivery[] {
    try {
      return room > 0 && anyDue(this.#db) ? claim(this.#db, room) : [];
    } catch {
      // Another process holds the data for long; the next round comes soon.
      return [];
    }
  }
}

const anyDue = (db: Database): boolean =>
  db.get('SELECT 1 FROM events WHERE claimed IS NULL AND due <= ? LIMIT 1', Date.now()) !== undefined;

function claim(db: Database, room: number): Delivery[] {
  return db.transaction(() => {
    const now = Date.now();
    const url = readWebhook(db);
    if (url === null) {
      dropDue(db, now);
      return [];
    }
    const events = db.all<{ id: number; form: string }>(
      'SELECT id, form FROM events WHERE claimed IS NULL AND due <= ? ORDER BY due, id LIMIT ?',
      now,
      room,
    );
    for (const { id } of events) db.run('UPDATE events SET claimed = ? WHERE id = ?', now, id);
    return events.map(({ form }) => ({ url, form }));
  });
}

/** Settles when the answer has come, whatever it says, or when none will. */
async function post(url: string, form: string, stop: AbortSignal): Promise<void> {
  try {
    const send = url.toLowerCase().startsWith('https:') ? (await import('node:https')).request : overHttp;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]);
    await exchange((options) => send(url, options), form, signal);
  } catch {
    // The service sends an event one time, so there is nothing more to do.
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
