/** Orders whose end is not known: listed, settled, waited for, and never bought twice by following a hint. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { finished } from '../support/steno.ts';
import { until } from '../support/until.ts';

const placed = (order: string, ...audiofiles: number[]) => ({
  body: { order, audiofiles, message: 'ok' },
});
const broken = { status: 500, body: 'oops' };

interface Listed {
  readonly attempt: number;
  readonly status: string;
  readonly urls: string[];
  readonly order: string | null;
  readonly detail: string;
  readonly by: { readonly pid: number; readonly host: string };
}

async function attemptsOf({ user }: OrderingAccount): Promise<Listed[]> {
  const { code, stdout, stderr } = await user.run(['attempts', '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Listed[];
}

const sentUrls = ({ service }: OrderingAccount): string[] =>
  service.calls('POST /order_url').flatMap(({ body }) => (body?.url ?? []) as string[]);

function manifest({ user }: OrderingAccount, ...names: string[]): string {
  const path = join(user.home, 'talks.txt');
  writeFileSync(path, names.map((name) => `${audio(name)}\n`).join(''));
  return path;
}

/** An order of `a` that had no clear answer. */
async function unclear(): Promise<OrderingAccount> {
  const it = await orderingAccount();
  it.service.allow('POST /order_url', broken, placed('n1', 11));
  expect((await it.order(audio('a'))).code).toBe(11);
  return it;
}

describe.concurrent('an unclear order', () => {
  it('is listed with its number, URLs, process and what happened, and said by files in one line', async () => {
    const it = await unclear();
    const [attempt, ...more] = await attemptsOf(it);
    expect(more).toEqual([]);
    expect(attempt).toMatchObject({ status: 'unclear', urls: [audio('a')], order: null });
    expect(attempt?.by.pid).toBeGreaterThan(0);
    expect(attempt?.detail).toContain('500');
    const quiet = await it.user.run(['attempts', '--quiet']);
    expect(quiet.stdout).toBe(`${attempt?.attempt}\n`);
    const files = await it.user.run(['files']);
    expect(files.stderr.match(/steno attempts/g)).toHaveLength(1);
  });

  it('stops the next order with 9 and names what to look at; --again goes on', async () => {
    const it = await unclear();
    const second = await it.order(audio('a'));
    expect(second.code).toBe(9);
    expect(second.stderr).toContain('steno attempts');
    expect(sentUrls(it)).toHaveLength(1);
    expect((await it.order(audio('a'), '--again')).code).toBe(0);
  });

  it('can be settled as not placed: the URL may be ordered again', async () => {
    const it = await unclear();
    const [attempt] = await attemptsOf(it);
    const settled = await it.user.run(['attempts', 'settle', String(attempt?.attempt), '--not-placed']);
    expect(settled.code, settled.stderr).toBe(0);
    expect(await attemptsOf(it)).toEqual([]);
    expect((await it.user.run(['files'])).stderr).not.toContain('attempts');
    expect((await it.order(audio('a'))).code).toBe(0);
    expect((await it.order(audio('a'))).code).toBe(9);
  });

  it('can be settled as placed, with its files: files, wait and the guard know them', async () => {
    const it = await unclear();
    it.service.allow('GET /audiofile/77', {
      body: { audiofile: { id: 77, statename: 'Delivered', title: 'T', originallink: audio('a') } },
    });
    const [attempt] = await attemptsOf(it);
    const line = ['attempts', 'settle', String(attempt?.attempt), '--placed', 'Z9', '--file', '77'];
    const settled = await it.user.run(line);
    expect(settled.code, settled.stderr).toBe(0);
    expect(await attemptsOf(it)).toEqual([]);
    const files = await it.user.run(['files', '--order', 'Z9', '--json']);
    expect(files.stdout).toContain('"77"');
    expect((await it.user.run(['wait', '--order', 'Z9'])).code).toBe(0);
    const again = await it.order(audio('a'));
    expect(again.code).toBe(9);
    expect(again.stderr).toContain('Z9');
    expect((await it.user.run(line)).code).toBe(2);
  });

  it('is not settled with a file of another link', async () => {
    const it = await unclear();
    it.service.allow('GET /audiofile/78', {
      body: { audiofile: { id: 78, statename: 'Delivered', originallink: audio('other') } },
    });
    const [attempt] = await attemptsOf(it);
    const line = ['attempts', 'settle', String(attempt?.attempt), '--placed', 'Z9', '--file', '78'];
    const settled = await it.user.run(line);
    expect(settled.code).toBe(1);
    expect(settled.stderr).toContain(audio('other'));
    expect(await attemptsOf(it)).toHaveLength(1);
  });

  it.each([
    [['attempts', 'settle', '999', '--not-placed']],
    [['attempts', 'settle', 'x', '--not-placed']],
    [['attempts', 'settle', '1']],
    [['attempts', 'settle', '1', '--placed', 'A', '--not-placed']],
    [['attempts', 'settle', '1', '--not-placed', '--file', '3']],
  ])('is not settled by %j: exit 2', async (line) => {
    const it = await unclear();
    expect((await it.user.run(line)).code).toBe(2);
    expect(await attemptsOf(it)).toHaveLength(1);
  });
});

describe.concurrent('a manifest with an unclear row', () => {
  it('orders the other rows, lists that one, and exits with 10, then with 9', async () => {
    const it = await unclear();
    const path = manifest(it, 'a', 'b', 'c');
    it.service.allow('POST /order_url', placed('n2', 21, 22));
    const first = await it.order('--from', path, '--skip-ordered');
    expect(first.code).toBe(10);
    expect(first.stderr).toContain(audio('a'));
    expect(sentUrls(it).slice(1)).toEqual([audio('b'), audio('c')]);
    const second = await it.order('--from', path, '--skip-ordered', '--json');
    expect(second.code).toBe(9);
    expect(second.stderr).toContain(audio('a'));
    expect(sentUrls(it)).toHaveLength(3);
  });

  it('orders only that row again with --retry-unclear', async () => {
    const it = await unclear();
    it.service.allow('POST /order_url', placed('n2', 21), placed('n3', 31));
    expect((await it.order(audio('b'))).code).toBe(0);
    const result = await it.order('--from', manifest(it, 'a', 'b'), '--skip-ordered', '--retry-unclear');
    expect(result.code, result.stderr).toBe(0);
    expect(sentUrls(it).slice(2)).toEqual([audio('a')]);
    expect(await attemptsOf(it)).toEqual([]);
  });

  it('refuses --retry-unclear without --skip-ordered', async () => {
    const it = await unclear();
    expect((await it.order(audio('a'), '--retry-unclear')).code).toBe(2);
    expect(sentUrls(it)).toHaveLength(1);
  });
});

describe.concurrent('an order that another process is sending', () => {
  /** A service that answers its first order only when told to. */
  async function slow(): Promise<OrderingAccount & { answer: () => void; asked: () => boolean }> {
    const it = await orderingAccount();
    let answer: () => void = () => {};
    let calls = 0;
    it.service.allow('POST /order_url', (_, response) => {
      calls += 1;
      answer = () => response.end(JSON.stringify({ order: 's1', audiofiles: [51] }));
    });
    return { ...it, answer: () => answer(), asked: () => calls > 0 };
  }

  it('is being sent, not unclear: the hint is to wait, never --again', async () => {
    const it = await slow();
    const first = it.user.start(['order', audio('a'), '--sku', 'TRANS14']);
    const ended = finished(first);
    await until(() => it.asked(), 'the order is sent');
    expect(await attemptsOf(it)).toMatchObject([{ status: 'being sent', by: { pid: first.pid } }]);
    const second = await it.order(audio('a'));
    expect(second.code).toBe(9);
    expect(second.stderr).not.toContain('--again');
    expect(second.stderr).toMatch(/wait/i);
    expect((await it.user.run(['files'])).stderr).not.toContain('attempts');
    it.answer();
    expect((await ended).code).toBe(0);
    expect(await attemptsOf(it)).toEqual([]);
  });

  it('is waited for with --skip-ordered, and then left out', async () => {
    const it = await slow();
    const ended = finished(it.user.start(['order', audio('a'), '--sku', 'TRANS14']));
    await until(() => it.asked(), 'the order is sent');
    const second = it.order(audio('a'), '--skip-ordered');
    setTimeout(() => it.answer(), 700);
    expect((await ended).code).toBe(0);
    expect((await second).code).toBe(0);
    expect(sentUrls(it)).toHaveLength(1);
  });

  it('is unclear as soon as its process is gone', async () => {
    const it = await slow();
    const child = it.user.start(['order', audio('a'), '--sku', 'TRANS14']);
    const ended = finished(child);
    await until(() => it.asked(), 'the order is sent');
    child.kill('SIGKILL');
    await ended;
    expect(await attemptsOf(it)).toMatchObject([{ status: 'unclear' }]);
    expect((await it.order(audio('a'), '--skip-ordered')).code).toBe(9);
    expect(sentUrls(it)).toHaveLength(1);
  });
});

it('eight runs of one manifest at once order everything once, and all of them exit 0', async () => {
  const it = await orderingAccount();
  const path = manifest(it, ...Array.from({ length: 12 }, (_, n) => `talk${n}`));
  const runs = Array.from({ length: 8 }, () =>
    it.order('--from', path, '--skip-ordered', '--per-order', '3'),
  );
  const codes = (await Promise.all(runs)).map(({ code }) => code);
  expect(codes).toEqual(codes.map(() => 0));
  expect(sentUrls(it).sort()).toEqual(Array.from({ length: 12 }, (_, n) => audio(`talk${n}`)).sort());
}, 60_000);

describe.concurrent('an answer that lacks something', () => {
  it('without files exits with 11, keeps the order, and wait --order knows it', async () => {
    const it = await orderingAccount();
    it.service.allow('POST /order_url', { body: { order: 'E1', audiofiles: [], message: 'ok' } });
    const first = await it.order(audio('a'));
    expect(first.code).toBe(11);
    expect(first.stderr + first.stdout).toContain('E1');
    expect((await it.order(audio('a'))).code).toBe(9);
    expect(await attemptsOf(it)).toMatchObject([{ order: 'E1', urls: [audio('a')] }]);
    const waited = await it.user.run(['wait', '--order', 'E1', '--timeout', '3s']);
    expect(waited.code).toBe(11);
    expect(waited.stderr).toContain('E1');
  });

  it('with fewer files than URLs exits with 11 and keeps those that it names', async () => {
    const it = await orderingAccount();
    it.service.allow('POST /order_url', placed('E2', 61));
    const result = await it.order(audio('a'), audio('b'));
    expect(result.code).toBe(11);
    const files = await it.user.run(['files', '--order', 'E2', '--quiet']);
    expect(files.stdout).toBe('61\n');
    expect((await it.order(audio('b'))).code).toBe(9);
  });

  it('with two files for one URL is said, and is no failure', async () => {
    const it = await orderingAccount();
    it.service.allow('POST /order_url', placed('E3', 71, 72));
    const result = await it.order(audio('a'));
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toContain('warning');
    expect((await it.user.run(['files', '--quiet'])).stdout.trim().split('\n').sort()).toEqual(['71', '72']);
  });

  it('with the id of another audio exits with 11 and leaves that file as it is', async () => {
    const it = await orderingAccount();
    it.service.allow('POST /order_url', placed('E4', 81), placed('E5', 81));
    expect((await it.order(audio('a'))).code).toBe(0);
    const second = await it.order(audio('b'));
    expect(second.code).toBe(11);
    expect(second.stderr).toContain('81');
    const [file] = JSON.parse((await it.user.run(['files', '--json'])).stdout) as Array<{ url: string }>;
    expect(file?.url).toBe(audio('a'));
  });
});
