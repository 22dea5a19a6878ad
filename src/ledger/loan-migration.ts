/** Brings along the webhooks that listeners of earlier versions have not put back; their addresses become hashes. */
import type { Database } from '../lib/sqlite.ts';
import { secretHashOf } from './webhook-loans.ts';

interface OldLoan {
  readonly id: number;
  readonly webhook: string;
  readonly former: string;
  readonly at: string;
}

export function bringLoansAlong(database: Database): void {
  const old = database.all<OldLoan>(
    `SELECT id, webhook, coalesce(former_webhook, '') AS former, started_at AS at FROM runs
     WHERE webhook IS NOT NULL ORDER BY id`,
  );
  // A listener that took the webhook from another one knew that one's address alone.
  const formers = new Map<string, string>();
  for (const { id, webhook, former, at } of old) {
    const first = formers.get(former) ?? former;
    formers.set(webhook, first);
    database.run(
      `INSERT INTO webhook_loans (account, run, secret_hash, address, former, taken_at) VALUES ('', ?, ?, '', ?, ?)`,
      id,
      secretHashOf(webhook),
      first,
      at,
    );
  }
  database.run('UPDATE runs SET webhook = NULL, former_webhook = NULL');
}
