/** Webhooks that listeners have set: what to put back, and for which account. Rows of all profiles and accounts. */
import { isOfThisMachine } from '../lib/processes.ts';
import { isSealed } from '../lib/sealer.ts';
import { sha256 } from '../lib/sha256.ts';
import { shownWebhook } from '../lib/signatures.ts';
import { shellWord } from '../lib/text.ts';
import { isRunningListener, type RunRow } from './runs.ts';
import { NOW, Table, timestamp } from './table.ts';

export interface NewRegistration {
  /** A mark of the base URL and the key. */
  readonly account: string;
  readonly run: number;
  /** Of the segment of the listener's address that can't be guessed: the address itself is a secret. */
  readonly secretHash: string;
  /** The listener's address, sealed. */
  readonly address: string;
  /** The webhook before any listener set it, sealed if it holds a secret; empty if there was none. */
  readonly previous: string;
}

export interface Registration extends NewRegistration {
  readonly id: number;
  /** As far as the ledger tells: on another host only the heartbeat does. */
  readonly isRunning: boolean;
  /** Whether it runs is certain: it runs or ran on this host, or the clock of a shared ledger tells. */
  readonly isCertain: boolean;
  readonly pid: number;
  /** The latest heartbeat. */
  readonly seenAt: string;
}

interface RegistrationRow extends RunRow {
  readonly registration: number;
  readonly account: string;
  readonly secret_hash: string;
  readonly address: string;
  readonly previous: string;
  readonly leaving: number;
  readonly ended_at: string | null;
}

export class WebhookRegistrations extends Table {
  /** Must be synced to disk before the webhook is set, so that a crash at any point leaves a trace. */
  async add({ account, run, secretHash, address, previous }: NewRegistration): Promise<number> {
    const row = await this.db.get<{ id: number }>(
      `INSERT INTO webhook_registrations (account, run, secret_hash, address, previous, taken_at) VALUES (?, ?, ?, ?, ?, ?)
       RETURNING id`,
      ...[account, run, secretHash, address, previous, timestamp()],
    );
    return Number(row?.id);
  }

  /** Oldest first. */
  async all(): Promise<Registration[]> {
    const { isShared } = this.db;
    const rows = await this.db.all<RegistrationRow>(
      `SELECT webhook_registrations.id AS registration, account, run AS id, secret_hash, address, previous, leaving,
         coalesce(host, '') AS host, coalesce(pid, 0) AS pid,
         coalesce(process_start, '') AS process_start, coalesce(seen_at, '') AS seen_at, ended_at,
         ${NOW} AS now
       FROM webhook_registrations LEFT JOIN runs ON runs.id = webhook_registrations.run ORDER BY webhook_registrations.id`,
    );
    return rows.map((row) => ({
      id: row.registration,
      account: row.account,
      run: row.id,
      secretHash: row.secret_hash,
      address: row.address,
      previous: row.previous,
      isRunning:
        row.leaving === 0 && row.ended_at === null && row.seen_at !== '' && isRunningListener(row, isShared),
      isCertain: isShared || isOfThisMachine({ ...row, start: row.process_start ?? '' }),
      pid: row.pid,
      seenAt: row.seen_at,
    }));
  }

  /** What one run has set is another's. */
  passOn(run: number, to: number): Promise<number> {
    return this.db.run('UPDATE webhook_registrations SET run = ? WHERE run = ?', to, run);
  }

  /** From now on it counts as ended: no other listener hands the webhook to this one. */
  markLeaving(id: number): Promise<number> {
    return this.db.run('UPDATE webhook_registrations SET leaving = 1 WHERE id = ?', id);
  }

  async remove(ids: readonly number[]): Promise<void> {
    for (const id of ids) await this.db.run('DELETE FROM webhook_registrations WHERE id = ?', id);
  }
}

/** Of the last segment of a listener's address. */
export const secretHashOf = (address: string): string =>
  sha256(/[^/]*$/.exec(address.replace(/[?#].*$/s, ''))?.[0] ?? '');

/** As long as the secret segment of an address. */
const SECRET = /[\w-]{32,}/g;
/** A service may answer anything. */
const MAX_SEGMENTS = 50;

/** That of the listener which a URL leads to. The service may spell a URL in its own way; the secret in it stays. */
export function registrationOfUrl<Each extends { readonly secretHash: string }>(
  url: string,
  registrations: readonly Each[],
): Each | undefined {
  const hashes = (url.match(SECRET) ?? []).slice(0, MAX_SEGMENTS).map(sha256);
  return registrations.find(({ secretHash }) => hashes.includes(secretHash));
}

/** The command that sets a URL; one that is sealed, not known, or holds a secret, is for the user to fill in. */
export const setCommand = (url: string): string =>
  `steno webhook set ${url && !isSealed(url) && shownWebhook(url) === url ? shellWord(url) : '<url>'}`;
