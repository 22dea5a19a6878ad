/** Deliveries that must not reach an action. */
import { describe, expect, it } from 'vitest';
import { form, Listener } from '../support/listener.ts';
import { User } from '../support/steno.ts';

const listed = async (user: User): Promise<Array<Record<string, unknown>>> =>
  JSON.parse((await user.run(['events', '--json'])).stdout);

describe('the receiver', () => {
  it('does not take its own forwarded delivery for a new one', async () => {
    const user = new User();
    const first = await Listener.start(user);
    const { port } = first;
    await first.stop();
    const listener = await Listener.start(user, [
      '--port',
      String(port),
      '--forward-to',
      `http://127.0.0.1:${port}/`,
    ]);
    expect((await listener.post(form({ event: 'ROUND' }))).status).toBe(200);
    await listener.until(() => /forward .* failed: HTTP 409/.test(listener.stderr));
    await listener.stop();
    expect(await listed(user)).toHaveLength(1);
  });

  it('sets its own variables of --exec, which a field of the same name can not replace', async () => {
    const listener = await Listener.start(new User(), [
      ...['--count', '1', '--exec', 'echo "[$STENO_EVENT_N $STENO_EVENT_TRY $STENO_EVENT_SOURCE]"'],
    ]);
    await listener.post(form({ event: 'SLY', n: '77', try: '99', source: 'evil' }));
    const { stderr, stdout } = await listener.ended;
    expect(stderr + stdout).toContain('[1 1 received]');
  });

  it('does not list a command that failed as left to do', async () => {
    const listener = await Listener.start(new User(), ['--count', '1', '--exec', 'exit 3']);
    await listener.post(form({ event: 'X' }));
    const { stderr } = await listener.ended;
    expect(stderr).toContain('failed: exit 3');
    expect(stderr).not.toContain('left for the next listen');
  });

  it('keeps the same name of an event everywhere, also with a NUL in it', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--json', '--count', '1']);
    await listener.post('event=A%00B&audiofile=1001%00x');
    await listener.ended;
    const [shown] = listener.json;
    expect(shown?.event).toBe('A\ufffdB');
    expect(await listed(user)).toMatchObject([{ event: 'A\ufffdB', audiofile: '1001\ufffdx' }]);
    expect((await user.run(['events', '--file', '1001'])).stdout).toBe('');
  });

  it('requires a command after --exec', async () => {
    expect((await new User().run(['listen', '--port', '0', '--exec', ' '])).code).toBe(2);
  });
});
