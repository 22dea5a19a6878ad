/** Texts from strangers that would keep a careless reader busy: nobody else may have to wait for them. */
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { complete, Listener } from '../support/listener.ts';
import { finished, type Result, type User } from '../support/steno.ts';

const MEGABYTE = 1_000_000;

/** A slow machine needs a second or two; a search that goes back needs half an hour for the backslashes. */
const PATIENCE = 10_000;

const bodies: Readonly<Record<string, string>> = {
  backslashes: `event=X&a=${'\\'.repeat(MEGABYTE)}`,
  'percent signs, escaped again and again': `event=X&a=%${'25'.repeat(MEGABYTE / 2)}`,
  'ampersands, escaped again and again': `event=X&a=%26${'amp;'.repeat(MEGABYTE / 4)}`,
  'a number of zeros': `event=X&a=${'%26%23000'.repeat(MEGABYTE / 9)}`,
  'fields without a value': `event=X&${'a&'.repeat(MEGABYTE / 2)}`,
};

/** Runs a command, and ends it where it takes too long: then its code is null. */
function runBounded(user: User, args: readonly string[]): Promise<Result> {
  const child = user.start(args);
  child.stdin.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  return finished(child).finally(() => clearTimeout(timer));
}

describe('a megabyte from a stranger', () => {
  it.each(Object.entries(bodies))('of %s holds up neither listen nor events', async (_, body) => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--json']);
    expect((await listener.post(body)).status).toBe(200);
    // It is shown a moment after it is kept: a delivery that comes then must not wait.
    await listener.until(() => listener.stdout.includes('\n'), PATIENCE);
    expect((await listener.post(complete('1'))).status).toBe(200);
    await listener.until(() => listener.lines.length === 2, PATIENCE);
    await listener.stop();
    const { code, stdout } = await runBounded(user, ['events', '--json']);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Array<{ event: string }>).map(({ event }) => event)).toEqual([
      'TRANSCRIPT_COMPLETE',
      'X',
    ]);
  });
});

describe('events', () => {
  it('ends soon after a delivery of a megabyte of backslashes', async () => {
    const { user } = await account();
    // Without a key nothing is hidden, and nothing takes long: what is kept is read by one who has a key.
    const listener = await Listener.start(user, ['--json'], { env: { STENO_API_KEY: undefined } });
    await listener.post(bodies.backslashes ?? '');
    await listener.stop();
    const { code, stdout } = await runBounded(user, ['events', '--json']);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(2 * MEGABYTE);
  });
});

describe('file', () => {
  it.each(['', '--json', '--csv'])('ends soon with a title of 100,000 backslashes %s', async (flag) => {
    const { service, user } = await account();
    const title = '\\'.repeat(100_000);
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, title } } });
    const { code, stdout } = await runBounded(user, ['file', '1', ...(flag ? [flag] : [])]);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThanOrEqual(title.length);
  });
});
