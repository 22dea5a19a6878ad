/** `upgrade` and `refund` killed at each of their steps: what was carried out is in the ledger, or is unclear there. */
import { describe, expect, it } from 'vitest';
import { audio } from '../support/ledger.ts';
import { type Place, run, STORE } from './place.ts';
import { type Crash, sweep, TIME_LIMIT_MS } from './sweep.ts';
import { canTrace, type Step } from './traced.ts';

interface Row {
  readonly number: number;
  readonly status: string;
}

interface Change {
  readonly kind: 'upgrade' | 'refund';
  readonly line: (id: string) => readonly string[];
  /** Whether the file shows it. */
  readonly isShown: (file: { readonly state: string; readonly upgrades: string }) => boolean;
}

const changes: readonly Change[] = [
  {
    kind: 'upgrade',
    line: (id) => ['upgrade', id, '--sku', 'TSTMP1'],
    isShown: ({ upgrades }) => upgrades === 'TSTMP1',
  },
  { kind: 'refund', line: (id) => ['refund', id, '--yes'], isShown: ({ state }) => state === 'Refunded' },
];

const fileOf = (place: Place): { id: string; state: string; upgrades: string } =>
  place.rows<{ id: string; state: string; upgrades: string }>('SELECT id, state, upgrades FROM files')[0] ?? {
    ...{ id: '', state: '', upgrades: '' },
  };

const begun = (place: Place, kind: string): Row[] =>
  place.rows<Row>(`SELECT number, status FROM purchases WHERE kind = '${kind}' ORDER BY number`);

/**
 * What was carried out is in the ledger: as placed, and its file shows it, or as unclear. Then the next command knows its
 * answer, or it is in attempts, and repeating it exits 9 until somebody says what became of it. What was not carried out
 * is unclear, or is not there.
 */
async function checkChange({ kind, line, isShown }: Change, { service, place }: Crash): Promise<void> {
  const { id } = fileOf(place);
  const route = `POST /audiofile/${id}/${kind}`;
  const done = service.changed(route);
  expect(done).toBeLessThanOrEqual(1);
  const [row] = begun(place, kind);
  if (done)
    expect(row?.status, 'what was carried out is in the ledger').toMatch(/^(placed|sending|uncertain)$/);
  if (row?.status === 'placed') expect(done).toBe(1);
  expect(isShown(fileOf(place))).toBe(row?.status === 'placed');
  if (row?.status !== 'sending' && row?.status !== 'uncertain') return;
  place.endLeases();
  const listed = JSON.parse((await run(place, ['attempts', '--json'], [0])).stdout);
  // An answer that was kept on this machine is in the ledger with the next command.
  if (begun(place, kind)[0]?.status === 'placed') {
    expect([listed, done, isShown(fileOf(place))]).toEqual([[], 1, true]);
    return;
  }
  expect(listed).toMatchObject([{ attempt: row.number, kind, status: 'unclear', audiofiles: [id] }]);
  await run(place, line(id), [9]);
  expect(service.changed(route)).toBe(done);
  await run(place, ['attempts', 'settle', String(row.number), done ? '--placed' : '--not-placed'], [0]);
  expect(isShown(fileOf(place))).toBe(done === 1);
}

/** The steps from the last write before the call to the answer on stdout. */
function aroundSending(steps: readonly Step[]): number[] {
  const sent = steps.findLastIndex(({ call, target }) => call === 'connect' && target.startsWith('tcp'));
  const told = steps.findIndex(({ target }) => target === 'stdout');
  return [sent - 1, sent, sent + 1, sent + 2, told].map((at) => at + 1);
}

describe.skipIf(!canTrace)(`killed at each step, with ${STORE},`, () => {
  it.each(changes)('$kind is known or unclear', { timeout: TIME_LIMIT_MS }, (change) =>
    sweep(change.kind, {
      args: (place) => change.line(fileOf(place).id),
      prepare: (place) => run(place, ['order', audio('a'), '--sku', 'TRANS14', '--quiet'], [0]),
      check: (crash) => checkChange(change, crash),
      slice: aroundSending,
    }),
  );
});
