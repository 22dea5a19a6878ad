/** `ignore`: audio that lists, feeds and folders leave out. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { item, rss } from '../../support/feed.ts';
import { audio, type OrderingAccount, orderingAccount } from '../../support/ledger.ts';
import { setAll } from '../../support/settings.ts';
import type { Result } from '../../support/steno.ts';

interface Ignoring extends OrderingAccount {
  run(...args: string[]): Promise<Result>;
  /** Orders a list with these lines. */
  list(lines: readonly string[], ...args: string[]): Promise<Result>;
  sent(): unknown[];
}

async function ignoring(...args: string[]): Promise<Ignoring> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  if (args.length) expect((await user.run(['ignore', ...args])).code).toBe(0);
  return {
    ...account,
    run: (...words) => user.run(words),
    list: (lines, ...words) => {
      writeFileSync(join(user.home, 'm.csv'), `${lines.join('\n')}\n`);
      return order('--from', 'm.csv', ...words);
    },
    sent: () => service.calls('POST /order_url').flatMap(({ body }) => body?.url),
  };
}

describe('ignored audio', () => {
  it('is left out of a list however its link is written, and is named', async () => {
    const { list, sent } = await ignoring(audio('a'));
    const { code, stderr } = await list(['url', 'HTTPS://EXAMPLE.com:443/%61.mp3?utm_source=x', audio('b')]);
    expect(code, stderr).toBe(0);
    expect(sent()).toEqual([audio('b')]);
    expect(stderr).toContain('Skipped 1 of 2: ignored (HTTPS://EXAMPLE.com:443/%61.mp3?utm_source=x)');
  });

  it('is an element with left_out in the JSON, also where nothing else is left', async () => {
    const { list, sent } = await ignoring(audio('a'));
    const { code, stdout } = await list(['url', audio('a')], '--json');
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      [expect.objectContaining({ url: audio('a'), audiofile: null, left_out: 'ignored' })],
    ]);
    expect(sent()).toEqual([]);
  });

  it('is ordered by itself, and from a list again after ignore --remove', async () => {
    const { list, order, run, sent } = await ignoring(audio('a'), audio('b'));
    expect((await order(audio('a'))).code).toBe(0);
    const removed = await run('ignore', '--remove', audio('b'), audio('c'));
    expect(removed.code).toBe(0);
    expect(removed.stderr).toContain(`not on the ignore list: ${audio('c')}`);
    expect((await list(['url', audio('b')])).code).toBe(0);
    expect(sent()).toEqual([audio('a'), audio('b')]);
  });

  it('is no duplicate: a list with it goes on', async () => {
    const { list, order, run, sent } = await ignoring();
    await order(audio('a'));
    expect((await list(['url', audio('a'), audio('b')])).code).toBe(9);
    await run('ignore', audio('a'));
    expect((await list(['url', audio('a'), audio('b')])).code).toBe(0);
    expect(sent()).toEqual([audio('a'), audio('b')]);
  });

  it('is known by its key alone where it has one', async () => {
    const { list, sent } = await ignoring('talk 1', audio('x'));
    expect((await list(['url,key', `${audio('x')},talk 1`, `${audio('x')},talk 2`])).code).toBe(0);
    expect(sent()).toEqual([audio('x')]);
  });

  it.each([
    ['a guid', 'g2'],
    ['a guid that is a link', 'https://show.example/?p=2'],
    ['a UUID in another spelling', 'urn:uuid:0F0E0D0C-1111-4222-8333-444455556666'],
    ['its link', audio('e2')],
  ])('is an episode by %s', async (_, given) => {
    const { user, order, sent } = await ignoring(given);
    const guid = given.startsWith('urn:') ? '0f0e0d0c-1111-4222-8333-444455556666' : given;
    const items = [1, 2].map((n) =>
      item({
        ...{ guid: n === 2 && given !== audio('e2') ? guid : `g${n}`, title: `T${n}` },
        ...{ date: 'Sun, 01 Nov 2026 09:00:00 GMT', url: audio(`e${n}`) },
      }),
    );
    writeFileSync(join(user.home, 'f.xml'), rss(items.join('')));
    const { code, stderr } = await order('--feed', 'f.xml', '--latest', '2');
    expect(code, stderr).toBe(0);
    expect(sent()).toEqual([audio('e1')]);
    expect(stderr).toContain('Skipped 1 of 2: ignored');
  });

  it('is a recording by its content, whatever it is called then', async () => {
    const { user, run, order, sent } = await ignoring();
    mkdirSync(join(user.home, 'rec'));
    for (const name of ['one.mp3', 'two.mp3', 'copy.mp3']) {
      const path = join(user.home, name === 'copy.mp3' ? name : join('rec', name));
      writeFileSync(path, name === 'two.mp3' ? '\0two' : '\0one');
      utimesSync(path, 1e9, 1e9);
    }
    setAll(user, { 'upload-command': 'echo "https://up.example/$(basename "$1")"' });
    expect((await run('ignore', 'copy.mp3')).code).toBe(0);
    expect((await order('rec')).code).toBe(0);
    expect(sent()).toEqual(['https://up.example/two.mp3']);
    expect((await run('ignore', 'rec')).code).toBe(2);
    rmSync(join(user.home, 'copy.mp3'));
    expect((await run('ignore', '--remove', 'copy.mp3')).stderr).not.toContain('not on the ignore list');
    expect((await run('ignore', '--list', '--json')).stdout.trim()).toBe('[]');
  });
});

describe('the list of ignored audio', () => {
  it('is printed without signatures, and says since when and by whom', async () => {
    const signed = `${audio('s')}?X-Amz-Signature=0123456789abcdef0123456789abcdef`;
    const { run, list, sent } = await ignoring(signed, 'k');
    const { stdout } = await run('ignore', '--list', '--json');
    // In the order of their names, keys first.
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ audio: 'k', ignored_by: expect.any(String) }),
      expect.objectContaining({ audio: audio('s'), ignored_at: expect.any(String) }),
    ]);
    expect((await list(['url', audio('s'), audio('t')])).code).toBe(0);
    expect(sent()).toEqual([audio('t')]);
    expect((await run('ignore', '--list', '--quiet')).stdout).toBe(`k\n${audio('s')}\n`);
  });

  it.each([
    ['nothing', []],
    ['an empty text', [' ']],
    ['a URL without a host', ['https://']],
    ['--list and a URL', ['--list', audio('a')]],
    ['--list and --remove', ['--list', '--remove']],
  ])('is not changed by %s', async (_, args) => {
    const { run } = await ignoring();
    expect((await run('ignore', ...args)).code).toBe(2);
  });

  it('goes with export and import, and an older copy does not bring back what was removed', async () => {
    const { user, run } = await ignoring(audio('a'), audio('b'));
    const before = (await run('ledger', 'export')).stdout;
    await run('ignore', '--remove', audio('b'));
    writeFileSync(join(user.home, 'old.jsonl'), before);
    expect((await run('ledger', 'import', 'old.jsonl')).code).toBe(0);
    expect((await run('ignore', '--list', '--quiet')).stdout).toBe(`${audio('a')}\n`);
    const other = { STENO_STATE_DIR: join(user.home, 'other'), STENO_LEDGER: undefined };
    const text = (await run('ledger', 'export')).stdout;
    expect((await user.run(['ledger', 'import', '-'], { env: other, stdin: text })).code).toBe(0);
    expect((await user.run(['ignore', '--list', '--quiet'], { env: other })).stdout).toBe(`${audio('a')}\n`);
  });
});
