import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { complete, form, isGone, Listener, Target } from '../support/listener.ts';
import { User } from '../support/steno.ts';

const actionsOf = async (user: User, n: number): Promise<Array<Record<string, unknown>>> =>
  JSON.parse((await user.run(['events', 'show', String(n), '--json'])).stdout).actions;

describe('--forward-to', () => {
  it('sends body and content type on to the byte, to several targets', async () => {
    const [user, one, two] = [new User(), await Target.start(), await Target.start()];
    const listener = await Listener.start(user, ['--forward-to', `${one.url},${two.url}`]);
    const body = Buffer.concat([
      Buffer.from('event=X&raw='),
      Buffer.from([0xff, 0xfe, 0, 1, 0x80]),
      Buffer.from('%zz&a=+%20'),
    ]);
    const type = 'application/x-www-form-urlencoded;  Charset="UTF-8"';
    await listener.post(body, { type });
    await listener.until(() => one.got.length === 1 && two.got.length === 1);
    for (const { got } of [one, two]) {
      expect(got[0]?.body.equals(body)).toBe(true);
      expect(got[0]?.headers['content-type']).toBe(type);
    }
    await listener.until(async () => (await actionsOf(user, 1)).every(({ status }) => status === 'done'));
    expect(await actionsOf(user, 1)).toMatchObject([
      { kind: 'forward', status: 'done', outcome: 'HTTP 200', tries: 1 },
      { kind: 'forward', status: 'done', outcome: 'HTTP 200', tries: 1 },
    ]);
    // The outcome is in the ledger first.
    await listener.until(() => /event 1: forwarded to http.* \(HTTP 200\)/.test(listener.stderr));
  });

  it('says once that a target is down, tries again, and delays nothing else', async () => {
    const [user, up, gone] = [new User(), await Target.start(), await Target.start()];
    const { port, url } = gone;
    await gone.close();
    const listener = await Listener.start(user, ['--forward-to', url, '--forward-to', up.url]);
    for (const id of ['1', '2', '3']) expect((await listener.post(complete(id))).status).toBe(200);
    await listener.until(() => up.got.length === 3 && /does not work/.test(listener.stderr));
    await sleep(800);
    expect(listener.stderr.match(/does not work/g)).toHaveLength(1);
    expect(listener.stderr).toMatch(/the connection was refused; pending events are saved/);
    const again = await Target.start(port);
    await listener.until(() => again.got.length === 3);
    expect(again.got.map(({ body }) => body.toString()).sort()).toEqual(
      ['1', '2', '3'].map((id) => complete(id)).sort(),
    );
    await listener.until(() => /works again/.test(listener.stderr));
  });

  it('retries what a target refuses for now, and leaves what it refuses for good', async () => {
    const [user, target] = [new User(), await Target.start()];
    target.status = (call) => [503, 200][call - 1] ?? 410;
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    await listener.post(complete('1'));
    await listener.until(() => target.got.length === 2);
    await listener.post(complete('2'));
    await listener.until(() => /event 2: forward .* failed: HTTP 410/.test(listener.stderr));
    expect(target.got).toHaveLength(3);
    expect(await actionsOf(user, 1)).toMatchObject([{ status: 'done', tries: 2 }]);
    expect(await actionsOf(user, 2)).toMatchObject([{ status: 'failed', outcome: 'HTTP 410' }]);
  });

  it('is finished after kill -9 by the next listener with the same target, and not done twice', async () => {
    const [user, target] = [new User(), await Target.start()];
    const { port, url } = target;
    const first = await Listener.start(user, ['--forward-to', url]);
    await first.post(complete('1'));
    await first.until(async () => (await actionsOf(user, 1))[0]?.status === 'done');
    await target.close();
    await first.post(complete('2'));
    await first.post(complete('3'));
    await first.stop('SIGKILL');
    const other = await Listener.start(user, []);
    await other.post(complete('4'));
    await other.stop();
    const again = await Target.start(port);
    const next = await Listener.start(user, ['--forward-to', url]);
    await next.until(() => again.got.length >= 2);
    await sleep(500);
    expect(again.got.map(({ body }) => body.toString()).sort()).toEqual([complete('2'), complete('3')]);
  });

  it('does not keep --count from ending while the target is down', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--forward-to', 'http://127.0.0.1:9/hook', '--count', '1']);
    await listener.post(complete('1'));
    const { code, stderr } = await listener.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/1 forward left for the next listen: http:\/\/127\.0\.0\.1:9\/hook/);
  });

  it('keeps a password out of the ledger and the screen, and uses it', async () => {
    const [user, target] = [new User(), await Target.start()];
    const url = target.url.replace('//', '//me:pa%24s@');
    const listener = await Listener.start(user, ['--forward-to', url, '--count', '1']);
    await listener.post(complete('1'));
    const { stderr } = await listener.ended;
    expect(stderr).not.toMatch(/pa(%24|\$)s/);
    expect(target.got[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:pa$s').toString('base64')}`);
    expect(readFileSync(join(user.home, 'state', 'ledger.db')).includes('pa%24s')).toBe(false);
  });
});

describe('--exec', () => {
  const script = (user: User, text: string): string => {
    const path = join(user.home, 'script.sh');
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  it('gives the event as JSON on stdin and as variables, and shows the exit status', async () => {
    const user = new User();
    const path = script(user, 'cat > in.json; env | grep ^STENO_EVENT_ > env.txt; exit 3');
    const listener = await Listener.start(user, ['--exec', path, '--count', '1']);
    await listener.post(`${complete('1001', '4nX')}&odd-name.x=%C3%A9&two=a&two=b`);
    const { code, stderr } = await listener.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/event 1: exec .*script\.sh failed: exit 3/);
    const given = JSON.parse(readFileSync(join(user.home, 'in.json'), 'utf8'));
    expect(given).toMatchObject({
      n: 1,
      event: 'TRANSCRIPT_COMPLETE',
      audiofile: '1001',
      order: '4nX',
      fields: { two: ['a', 'b'], 'odd-name.x': 'é' },
    });
    const lines = readFileSync(join(user.home, 'env.txt'), 'utf8');
    for (const line of [
      'EVENT=TRANSCRIPT_COMPLETE',
      'AUDIOFILE=1001',
      'ORDER=4nX',
      'ODD_NAME_X=é',
      'TWO=a,b',
      'TRY=1',
      'N=1',
    ])
      expect(lines).toContain(`STENO_EVENT_${line}\n`);
  });

  it('puts nothing of an event into the command line, whatever it holds', async () => {
    const user = new User();
    const path = script(user, 'cat >> in.jsonl; printf "%s|" "$STENO_EVENT_AUDIOFILE" >> ids');
    const listener = await Listener.start(user, ['--exec', `${path}`, '--count', '3', '--jobs', '1']);
    const hostile = ['$(touch owned)', '`touch owned`; touch owned #', '"; touch owned; "\n\u001b[31m'];
    for (const audiofile of hostile)
      await listener.post(form({ event: 'X$(touch owned)', audiofile, 'a;touch owned': 'x' }));
    expect((await listener.ended).code).toBe(0);
    expect(existsSync(join(user.home, 'owned'))).toBe(false);
    expect(readFileSync(join(user.home, 'ids'), 'utf8')).toBe(
      hostile.map((each) => `${each.trim()}|`).join(''),
    );
    expect(listener.stderr).not.toMatch(/\u001b/);
  });

  it('takes fields of any size and name', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--exec', 'wc -c > size', '--count', '1']);
    const many = Array.from({ length: 3000 }, (_, n) => `f${n}=${n}`).join('&');
    await listener.post(`event=X&big=${'a'.repeat(900_000)}&nul=a%00b&=empty&PATH=evil&${many}`);
    expect((await listener.ended).stderr).toMatch(/\(exit 0\)/);
    expect(Number(readFileSync(join(user.home, 'size'), 'utf8'))).toBeGreaterThan(900_000);
  });

  it('runs --jobs at once, and ends a command that takes too long, with its children', async () => {
    const user = new User();
    const path = script(user, 'echo start >> log; sleep 0.4; echo end >> log');
    const listener = await Listener.start(user, ['--exec', path, '--jobs', '2', '--count', '4']);
    for (const id of ['1', '2', '3', '4']) await listener.post(complete(id));
    expect((await listener.ended).code).toBe(0);
    const log = readFileSync(join(user.home, 'log'), 'utf8').trim().split('\n');
    const peak = log.reduce(
      ({ now, most }, line) => ({
        now: now + (line === 'start' ? 1 : -1),
        most: Math.max(most, now + (line === 'start' ? 1 : 0)),
      }),
      { now: 0, most: 0 },
    );
    expect([log.length, peak.most]).toEqual([8, 2]);
    const slow = await Listener.start(user, [
      '--exec',
      'sleep 60 & echo $! > pid; wait',
      '--exec-timeout',
      '400ms',
      '--count',
      '1',
    ]);
    await slow.post(complete('5'));
    expect((await slow.ended).stderr).toMatch(/failed: stopped after 400ms/);
    const pid = Number(readFileSync(join(user.home, 'pid'), 'utf8'));
    expect(isGone(pid)).toBe(true);
  });

  it('runs again after a crash in the middle, and says so; not after a failure', async () => {
    const user = new User();
    const path = script(
      user,
      'echo "$STENO_EVENT_AUDIOFILE $STENO_EVENT_TRY" >> tries; [ $STENO_EVENT_TRY = 1 ] && [ $STENO_EVENT_AUDIOFILE = 2 ] && sleep 30; exit 1',
    );
    const args = ['--exec', path];
    const first = await Listener.start(user, args);
    await first.post(complete('1'));
    await first.until(() => /failed: exit 1/.test(first.stderr));
    await first.post(complete('2'));
    await first.until(() => /2 1/.test(readFileSync(join(user.home, 'tries'), 'utf8')));
    await first.stop('SIGKILL');
    const next = await Listener.start(user, args);
    await next.until(() => /event 2: exec .* failed/.test(next.stderr));
    expect(readFileSync(join(user.home, 'tries'), 'utf8')).toBe('1 1\n2 1\n2 2\n');
  });
});

describe('--download', () => {
  const serve = async (): ReturnType<typeof account> => {
    const made = await account();
    const audiofile = { id: 7, statename: 'Delivered', title: 'Talk' };
    made.service.allow('GET /audiofile/7', { body: { audiofile } });
    return made;
  };

  it('fetches each complete transcript in every format, once, and leaves what is there', async () => {
    const { service, user } = await serve();
    service.on('POST /audiofile/7/transcript.txt', { body: 'hello' });
    service.on('POST /audiofile/7/transcript.srt', { body: '1\n00:00:00,000 --> 00:00:01,000\nhello\n' });
    const args = ['--download', 'got', '--format', 'txt,srt', '--count', '2', '--quiet'];
    const listener = await Listener.start(user, args);
    await listener.post(complete('7'));
    await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: '7', order: 'o' }));
    const { code } = await listener.ended;
    expect(code).toBe(0);
    expect(listener.lines).toEqual([join('got', '7.txt'), join('got', '7.srt')]);
    expect(readFileSync(join(user.home, 'got', '7.txt'), 'utf8')).toBe('hello');
    const again = await Listener.start(user, ['--download', 'got', '--count', '1']);
    await again.post(complete('7'));
    await again.ended;
    expect(service.calls('POST /audiofile/7/transcript.txt')).toHaveLength(1);
  });

  it('tries again until the transcript is there', async () => {
    const { service, user } = await serve();
    service.on(
      'POST /audiofile/7/transcript.txt',
      { status: 404, body: { message: 'not yet' } },
      { body: 'hello' },
    );
    const listener = await Listener.start(user, ['--download', '.', '--count', '1']);
    await listener.post(complete('7'));
    expect((await listener.ended).stderr).toMatch(/event 1: downloaded 7\.txt/);
    expect(readFileSync(join(user.home, '7.txt'), 'utf8')).toBe('hello');
  });

  it('never leaves the folder, whatever the id of an event', async () => {
    const { user } = await serve();
    const listener = await Listener.start(user, ['--download', 'got', '--count', '2']);
    await listener.post(complete('../../evil'));
    await listener.post(complete('..'));
    const { code, stderr } = await listener.ended;
    expect(code).toBe(0);
    expect(stderr.match(/failed: .* is not an id/g)).toHaveLength(2);
    expect(existsSync(join(user.home, 'got'))).toBe(false);
  });
});
