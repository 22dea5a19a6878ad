/** Time limits hold while the clock is set back by an hour. */
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../support/account.ts';
import { settableClock } from '../support/clock.ts';
import { audio } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { finished, KEY } from '../support/steno.ts';

/** Ends what would go on for an hour. */
const TOO_LATE_MS = 20_000;

describe.concurrent('the clock is set back, and --timeout ends with 6:', () => {
  const lines: ReadonlyArray<readonly [string, readonly string[]]> = [
    ['wait', ['wait', '1', '--interval', '50ms']],
    ['wait with its own pauses', ['wait', '1']],
    ['file --watch', ['file', '1', '--watch', '--interval', '50ms']],
    ['order --wait', ['order', audio('a'), '--sku', 'TRANS14', '--wait', '--interval', '50ms']],
  ];

  it.each(lines)('%s', async (_, line) => {
    const { service, user } = await account();
    const clock = settableClock(user);
    let polls = 0;
    service.allow('POST /order_url', { body: { order: 'o1', audiofiles: [1] } });
    service.on('GET /audiofile/1', (_got, response) => {
      polls += 1;
      if (polls === 2) clock.setBack();
      response.end(JSON.stringify(fileAnswer(1, 'Transcribing').body));
    });
    const child = user.start([...line, '--timeout', '3s'], clock);
    const late = setTimeout(() => child.kill('SIGKILL'), TOO_LATE_MS);
    const { code, stderr } = await finished(child);
    clearTimeout(late);
    expect(code, stderr).toBe(6);
    expect(polls).toBeGreaterThan(1);
  });

  it('login, in the middle of its call', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    const clock = settableClock(user);
    // The first try uses up some time, the second one is never answered.
    service.on(
      'GET /prepay_balance',
      (_got, response) => {
        clock.setBack();
        response.writeHead(503).end();
      },
      () => {},
    );
    const child = user.start(['login', '--timeout', '3s'], clock);
    child.stdin.end(KEY);
    const late = setTimeout(() => child.kill('SIGKILL'), TOO_LATE_MS);
    const { code, stderr } = await finished(child);
    clearTimeout(late);
    expect(code, stderr).toBe(6);
  });
});

it('the clock is set back, and listen --timeout ends with 6', async () => {
  const { user } = await account({ STENO_API_KEY: undefined, STENO_BASE_URL: undefined });
  const clock = settableClock(user);
  const listener = await Listener.start(user, ['--timeout', '3s'], clock);
  clock.setBack();
  const late = setTimeout(() => listener.child.kill('SIGKILL'), TOO_LATE_MS);
  expect((await listener.ended).code).toBe(6);
  clearTimeout(late);
});
