import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseCsv } from '../support/csv.ts';
import { complete, eventsOf, form, Listener, Target } from '../support/listener.ts';
import { finished, User } from '../support/steno.ts';

const user = new User();
const odd = Buffer.concat([Buffer.from('event=ODD&x='), Buffer.from([0xff, 0x80, 0])]);

beforeAll(async () => {
  const listener = await Listener.start(user);
  await listener.post(complete('1', 'a'));
  await listener.post(
    form({ event: 'ORDER_ON_HOLD', order: 'b', audiofiles: '2, 3', hold: 'billing', skus: 'X' }),
  );
  await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: '3', order: 'b' }));
  await listener.post(odd, { type: 'application/x-www-form-urlencoded; charset=latin1' });
  await listener.stop();
});

const numbers = async (...args: string[]): Promise<string> =>
  (await user.run(['events', '--quiet', ...args])).stdout.trim().replaceAll('\n', ' ');

describe('events', () => {
  it('lists the newest first and filters', async () => {
    expect(await numbers()).toBe('4 3 2 1');
    expect(await numbers('--limit', '2')).toBe('4 3');
    expect(await numbers('--event', 'transcript_complete,ODD')).toBe('4 1');
    expect(await numbers('--file', '3')).toBe('3 2');
    expect(await numbers('--order', 'b')).toBe('3 2');
    expect(await numbers('--order', 'b', '--event', 'DIFFICULT_AUDIO')).toBe('3');
    expect(await numbers('--since', '1h')).toBe('4 3 2 1');
    expect(await numbers('--since', '2999-01-01')).toBe('');
    expect((await user.run(['events', '--since', 'soon'])).code).toBe(2);
    expect((await user.run(['events', '--no-ledger'])).code).toBe(2);
    expect(await eventsOf(new User())).toEqual([]);
  });

  it('prints rows, CSV and a table', async () => {
    const rows = (await user.run(['events'])).stdout.trim().split('\n');
    expect(rows[3]?.split('\t').slice(0, 1)).toEqual(['1']);
    expect(rows[3]).toContain('TRANSCRIPT_COMPLETE\t1\ta\t');
    const csv = parseCsv((await user.run(['events', '--csv'])).stdout);
    expect(csv[0]).toEqual([
      'n',
      'received_at',
      'event',
      'audiofile',
      'order',
      'title',
      'meaning',
      'webhook_version',
      'source',
      'body',
    ]);
    expect(csv).toHaveLength(5);
    const { stdout } = await user.onTerminal('steno events');
    expect(stdout).toMatch(/RECEIVED.*EVENT.*MEANING/);
    expect(stdout).toMatch(/held \(billing\): work starts once the hold is released/);
  });

  it('shows all of one event', async () => {
    const { stdout } = await user.run(['events', 'show', '4', '--json']);
    const shown = JSON.parse(stdout);
    expect(Buffer.from(shown.body_base64, 'base64').equals(odd)).toBe(true);
    expect(shown).toMatchObject({
      content_type: 'application/x-www-form-urlencoded; charset=latin1',
      actions: [],
    });
    expect((await user.run(['events', 'show', '2'])).stdout).toMatch(/^fields\.audiofiles\t2, 3$/m);
    const rows = parseCsv((await user.run(['events', 'show', '4', '--csv'])).stdout).slice(1);
    const names = rows.flatMap(([name = '']) => (name.startsWith('fields.') ? [] : [name]));
    expect(names).toEqual(names.filter((name) => name === 'meaning' || Object.hasOwn(shown, name)));
    expect(Object.fromEntries(rows)).toMatchObject({ n: '4', received_at: shown.received_at });
    for (const n of ['99', 'x', '-1', '1.5'])
      expect((await user.run(['events', 'show', '--', n])).code).toBe(2);
  });

  it('follows what another process receives', async () => {
    const other = new User();
    const listener = await Listener.start(other);
    await listener.post(complete('1'));
    const child = other.start(['events', '--follow', '--json']);
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    const end = finished(child);
    await listener.until(() => text.includes('"audiofile":"1"'));
    await listener.post(complete('2'));
    await listener.until(() => text.includes('"audiofile":"2"'));
    child.kill('SIGINT');
    expect((await end).code).toBe(130);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).n),
    ).toEqual([1, 2]);
  });
});

describe('events replay', () => {
  it('sends deliveries once more, to the byte', async () => {
    const target = await Target.start();
    const { code, stdout } = await user.run(['events', 'replay', '4', '1', '--to', target.url]);
    expect(code).toBe(0);
    expect(stdout).toBe(`4\t${target.url}\tHTTP 200\n1\t${target.url}\tHTTP 200\n`);
    expect(target.got[0]?.body.equals(odd)).toBe(true);
    expect(target.got[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded; charset=latin1');
    expect(target.got[1]?.body.toString()).toBe(complete('1', 'a'));
  });

  it('runs a command', async () => {
    const { code, stderr } = await user.run([
      'events',
      'replay',
      '3',
      '--exec',
      'cat > replayed.json; echo hi',
    ]);
    expect([code, stderr]).toEqual([0, 'hi\n']);
    expect(JSON.parse(readFileSync(join(user.home, 'replayed.json'), 'utf8')).n).toBe(3);
    expect((await user.run(['events', 'replay', '3', '--exec', 'exit 4'])).code).toBe(1);
  });

  it('exits 7 if the target is down, 1 if it refuses, 10 if it takes some', async () => {
    const target = await Target.start();
    const down = await user.run(['events', 'replay', '1', '--to', 'http://127.0.0.1:9/']);
    expect([down.code, down.stderr]).toEqual([7, expect.stringMatching(/connection was refused/)]);
    target.status = () => 422;
    const refused = await user.run(['events', 'replay', '1', '--to', target.url, '--json']);
    expect([refused.code, JSON.parse(refused.stderr).error.status]).toEqual([1, 422]);
    target.status = (call) => (call === 2 ? 200 : 500);
    const some = await user.run(['events', 'replay', '1', '2', '--to', target.url, '--json']);
    expect([some.code, JSON.parse(some.stdout)]).toEqual([
      10,
      [
        { n: 1, target: target.url, outcome: 'HTTP 200' },
        { n: 2, target: target.url, outcome: null, error: expect.objectContaining({ status: 500 }) },
      ],
    ]);
  });

  it.each([
    [['1']],
    [['1', '--to', 'nowhere']],
    [['1', '--to', 'http://a.example', '--exec', 'true']],
    [['1', '99', '--exec', 'touch never']],
  ])('refuses %s', async (args) => {
    expect((await user.run(['events', 'replay', ...args])).code).toBe(2);
    expect(existsSync(join(user.home, 'never'))).toBe(false);
  });
});
