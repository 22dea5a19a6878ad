/** `listen --keep`: events do not gather for ever, and receiving goes on while old ones are removed. */
import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ledgerOf, queryLedger } from '../support/ledger.ts';
import { complete, eventsOf, Listener } from '../support/listener.ts';
import { User } from '../support/steno.ts';

/** Many events of January. */
function addOld(user: User, count: number): void {
  queryLedger(
    user,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO events (profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
     SELECT 'default', 'received', '2026-01-01T00:00:00.000Z', '', '', zeroblob(1500), 'X', '1', 'old', '' FROM n`,
  );
}

const oldOnes = (user: User): number =>
  Number(queryLedger(user, "SELECT count(*) AS n FROM events WHERE audiofile = 'old'")[0]?.n);

describe('listen --keep', () => {
  it('removes what is older, at the start and as it goes; nothing else, and the file gets smaller', async () => {
    const user = new User({ STENO_TEST_TICK_MS: '50' });
    const first = await Listener.start(user, ['--exec', 'exit 1', '--quiet']);
    await first.post(complete('pending'));
    await first.stop();
    addOld(user, 5000);
    queryLedger(user, "UPDATE events SET received_at = '2026-01-01T00:00:00.000Z'");
    queryLedger(user, "UPDATE actions SET status = 'pending'");
    const size = statSync(ledgerOf(user)).size + statSync(`${ledgerOf(user)}-wal`).size;
    const listener = await Listener.start(user, ['--keep', '10s', '--quiet']);
    let answered = 0;
    // Deliveries go on meanwhile.
    for (let n = 0; n < 10_000 && oldOnes(user) > 0; n += 1) {
      expect((await listener.post(complete(`new${n}`))).status).toBe(200);
      answered += 1;
    }
    expect(answered).toBeGreaterThan(1);
    expect(oldOnes(user)).toBe(0);
    // What has something to be done stays, however old it is.
    expect((await eventsOf(user)).some(({ audiofile }) => audiofile === 'pending')).toBe(true);
    // Later ones go too, when they are as old.
    await listener.until(
      () => queryLedger(user, "SELECT 1 FROM events WHERE audiofile = 'new0'").length === 0,
      40_000,
    );
    await listener.stop();
    expect(statSync(ledgerOf(user)).size).toBeLessThan(size / 3);
    expect(queryLedger(user, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  }, 90_000);

  it('keeps everything without it', async () => {
    const user = new User({ STENO_TEST_TICK_MS: '50' });
    const first = await Listener.start(user, ['--quiet']);
    await first.stop();
    addOld(user, 10);
    const listener = await Listener.start(user, ['--quiet']);
    await new Promise((done) => setTimeout(done, 1_000));
    await listener.stop();
    expect(oldOnes(user)).toBe(10);
  });
});
