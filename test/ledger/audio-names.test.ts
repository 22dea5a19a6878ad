/** The names by which two orders are for the same audio, and the lease of the process that sends one. */
import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { holdsLease, isSilent, type Lease, recheckTimer } from '../../src/ledger/lease.ts';
import { makeAudio, makeEpisode, makeFile } from '../../src/ledger/purchase.ts';
import { isRunningListener } from '../../src/ledger/runs.ts';
import { isContentName, spellingOf, storedName } from '../../src/lib/names.ts';
import { thisProcess } from '../../src/lib/processes.ts';

const URL_A = 'https://e.example/a.mp3';

describe('the names of an audio', () => {
  it('are that of its URL, or of its key in place of it', () => {
    expect(makeAudio('HTTPS://E.example/a.mp3#t').names).toEqual([`url ${URL_A}`]);
    expect(makeAudio(URL_A, 'cafe\u0301').names).toEqual(['key caf\u00e9']);
    expect(makeAudio(URL_A, 'cafe\u0301').key).toBe('cafe\u0301');
  });

  it('are, for an episode, that of its URL and those of its feed', () => {
    expect(makeEpisode(URL_A, ['guid 1', 'title 2'], {}).names).toEqual([
      `url ${URL_A}`,
      'guid 1',
      'title 2',
    ]);
  });

  it('are, for a file, that of its content alone', () => {
    const { names, key } = makeFile(URL_A, 'abc', { title: 'a' });
    expect([names, key]).toEqual([['key sha256:abc'], 'sha256:abc']);
    expect(names.map(isContentName)).toEqual([true]);
    expect(['key abc', `url ${URL_A}`, 'x key sha256:'].map(isContentName)).toEqual([false, false, false]);
  });

  it('are kept as they are up to 1,024 bytes, then as a hash', () => {
    const [fits, tooLong] = [`url ${'x'.repeat(1_020)}`, `url ${'x'.repeat(1_021)}`];
    expect(storedName(fits)).toBe(fits);
    expect(storedName(tooLong)).toMatch(/^url sha256:[0-9a-f]{64}$/);
    expect(storedName(`${tooLong} y`)).toMatch(/^url sha256:[0-9a-f]{64}$/);
    expect(storedName(`${tooLong} y`)).not.toBe(storedName(tooLong));
    const wide = `key ${'€'.repeat(340)}`;
    expect([storedName(wide), storedName(`${wide}€`).length]).toEqual([wide, 75]);
  });
});

it('the spelling of a URL is the beginning of its hash', () => {
  expect(spellingOf('')).toBe('e3b0c44298fc1c14');
});

describe('a lease', () => {
  const now = Date.parse('2026-11-15T12:00:00.000Z');
  const seen = (agoMs: number): string => new Date(now - agoMs).toISOString();
  const own = thisProcess();
  const gone = { host: hostname(), pid: 0x3fffff, start: '' };
  const lease = (mark: object, agoMs: number): Lease => ({ ...own, ...mark, seenAt: seen(agoMs) });
  const holds = (mark: object, agoMs: number, isShared = false): boolean =>
    holdsLease(lease(mark, agoMs), { nowMs: now, isShared });

  it('of another machine lasts 45 seconds from the last heartbeat', () => {
    const elsewhere = { host: 'elsewhere' };
    expect([holds(elsewhere, 45_000), holds(elsewhere, 45_001)]).toEqual([true, false]);
    expect(holds({ host: '' }, 0)).toBe(false);
  });

  it('with a heartbeat from the future, by a wrong clock, lasts no longer than others', () => {
    const elsewhere = { host: 'elsewhere' };
    expect([holds(elsewhere, -45_000), holds(elsewhere, -45_001)]).toEqual([true, false]);
    expect([holds(elsewhere, -45_000, true), holds(elsewhere, -45_001, true)]).toEqual([true, false]);
    const future = -3_600_000;
    expect([holds(own, future), holds(gone, future), holds({ start: '' }, future)]).toEqual([
      ...[process.platform === 'linux', false, false],
    ]);
  });

  it('of a listener is told by its process on this machine, also after the clock was set back', () => {
    const [host, hourAhead] = [hostname(), seen(-3_600_000)];
    const runs = (mark: object, isShared = false): boolean =>
      isRunningListener(
        { id: 1, host, pid: process.ppid, seen_at: hourAhead, now: seen(0), ...mark },
        isShared,
      );
    expect([runs({}), runs({ pid: gone.pid }), runs({ host: 'elsewhere' }), runs({}, true)]).toEqual([
      ...[true, false, false, false],
    ]);
    expect(runs({ seen_at: seen(30_001) })).toBe(false);
  });

  it('of this machine ends with its process, and lasts as long as it', () => {
    expect([holds(own, 0), holds(own, 3_600_000)]).toEqual([true, true]);
    expect([holds(gone, 0), holds(gone, 3_600_000)]).toEqual([false, false]);
    // Without its beginning, the number may be that of another process by now.
    expect([holds({ start: '' }, 0), holds({ start: '' }, 3_600_000)]).toEqual([true, false]);
    expect([holds({ start: 'other' }, 0), holds({ start: 'other' }, 3_600_000)]).toEqual([
      ...(process.platform === 'linux' ? [false, false] : [true, false]),
    ]);
  });

  it('on a shared ledger is judged by the heartbeat alone', () => {
    expect([holds(gone, 45_000, true), holds(gone, 45_001, true), holds(own, 45_001, true)]).toEqual([
      ...[true, false, false],
    ]);
  });

  it('is judged by this clock where no other is given', () => {
    const seenAt = new Date().toISOString();
    expect(holdsLease({ ...gone, seenAt })).toBe(false);
    expect(holdsLease({ ...own, seenAt })).toBe(true);
    expect([isSilent(seenAt), isSilent(seen(0), 10, now + 10), isSilent(seen(0), 10, now + 11)]).toEqual([
      ...[false, false, true],
    ]);
  });

  const { now: realNow } = Date;
  afterEach(() => {
    Date.now = realNow;
  });

  it('is asked about again after two seconds of the clock', () => {
    Date.now = () => 1_000_000;
    const isDue = recheckTimer();
    expect(isDue()).toBe(false);
    Date.now = () => 1_002_000;
    expect(isDue()).toBe(false);
    Date.now = () => 1_002_001;
    expect(isDue()).toBe(true);
    Date.now = () => 900_000;
    expect(isDue()).toBe(false);
  });

  it('is asked about again after two seconds, though the clock stands', async () => {
    Date.now = () => 1_000_000;
    const isDue = recheckTimer();
    await new Promise((done) => setTimeout(done, 2_050));
    expect(isDue()).toBe(true);
  });
});
