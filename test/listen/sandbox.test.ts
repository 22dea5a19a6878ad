import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventsOf, Listener } from '../support/listener.ts';
import { longOnly } from '../support/slices.ts';
import { User } from '../support/steno.ts';

longOnly(
  'the sandbox drives all six events through a registered listener, from other processes',
  async () => {
    const user = new User({ STENO_PROFILE: 'sandbox' });
    const listener = await Listener.start(user, ['--register', '--download', '.', '--json']);
    await listener.until(async () => (await eventsOf(user)).length === 1);
    const urls = ['talk', 'difficult', 'duplicate', 'refund', 'card-failure', 'hold'];
    for (const name of urls) {
      const placed = await user.run([
        'order',
        `https://example.com/${name}.mp3`,
        '--sku',
        'TRANS14',
        '--quiet',
      ]);
      expect(placed.code, placed.stderr).toBe(0);
    }
    const wanted = [
      'TRANSCRIPT_COMPLETE',
      'DIFFICULT_AUDIO',
      'DUPLICATE_FILE',
      'REFUND_ISSUED',
      'CC_AUTH_FAILURE',
      'ORDER_ON_HOLD',
    ];
    const seen = (): Set<unknown> => new Set(listener.json.map(({ event }) => event));
    await listener.until(() => wanted.every((event) => seen().has(event)), 25_000);
    await listener.until(() => existsSync(join(user.home, '1001.txt')));
    const { code } = await listener.stop();
    expect(code).toBe(130);
    expect((await user.run(['webhook', 'get'])).stdout).toBe('');
    // An event alone changes no state: the service is asked.
    const { stdout } = await user.run(['files', '--refresh', '--json']);
    const states = JSON.parse(stdout) as Array<{ state: string }>;
    expect(states.map(({ state }) => state)).toContain('Refunded');
  },
  60_000,
);

it('the story of the README works as pasted', async () => {
  const user = new User();
  const listener = await Listener.start(user, [
    '--sandbox',
    '--register',
    '--download',
    '.',
    '--until',
    'TRANSCRIPT_COMPLETE',
  ]);
  const order = await user.run(['--sandbox', 'order', 'https://example.com/talk.mp3', '--sku', 'TRANS14']);
  expect(order.code).toBe(0);
  expect((await listener.ended).code).toBe(0);
  expect(existsSync(join(user.home, '1001.txt'))).toBe(true);
});
