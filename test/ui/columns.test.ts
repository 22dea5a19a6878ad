import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { orderingAccount } from '../support/ledger.ts';

const hostile = 'A | B\n`c` <img src=x> [d](http://e) _f_ \\ @g';

async function withFiles() {
  const it = await account();
  for (const [at, title] of ['Monday', hostile].entries()) {
    const audiofile = { id: at + 1, statename: 'Delivered', title, total: '7.50', duration: '12.5' };
    it.service.on(`GET /audiofile/${at + 1}`, { body: { audiofile } });
  }
  await it.user.run(['track', '1', '2']);
  return it;
}

const shop = withFiles();

describe('--columns', () => {
  it('chooses columns and their order in rows, CSV, Markdown and tables', async () => {
    const { user } = await shop;
    const chosen = async (...form: string[]) =>
      (await user.run(['files', '--columns', 'minutes,audiofile', '--columns', 'state', ...form])).stdout;
    expect(await chosen()).toBe('12.5\t2\tDelivered\n12.5\t1\tDelivered\n');
    expect(await chosen('--csv')).toBe('minutes,audiofile,state\r\n12.5,2,Delivered\r\n12.5,1,Delivered\r\n');
    expect(await chosen('--markdown')).toBe(
      '| minutes | audiofile | state |\n| ---: | --- | --- |\n| 12.5 | 2 | Delivered |\n| 12.5 | 1 | Delivered |\n',
    );
    const { stdout } = await user.onTerminal('steno files --columns audiofile,key,minutes --no-color');
    const [head = '', ...rows] = stdout.trim().split(/\r?\n/);
    expect(head.split(/ {2,}/)).toEqual(['AUDIOFILE', 'LENGTH']);
    expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
      ['2', '13 min'],
      ['1', '13 min'],
    ]);
  });

  it('has the columns of the table unless told, and every column with all', async () => {
    const { user } = await shop;
    const files = async (...form: string[]) => (await user.run(['files', ...form])).stdout;
    const width = (text: string) => text.split('\n')[0]?.split('\t').length;
    const [head = ''] = (await files('--csv')).split('\r\n');
    const all = head.split(',').length;
    expect(width(await files('--columns', 'all'))).toBe(all);
    expect(width(await files())).toBeLessThan(all / 2);
    expect(await files('--columns', 'all', '--csv')).toBe(await files('--csv'));
    const markdown = async (...form: string[]) => (await files('--markdown', ...form)).split('\n')[0];
    expect(await markdown('--columns', 'all')).toBe(`| ${head.replaceAll(',', ' | ')} |`);
    expect(await markdown()).not.toContain('checked_at');
  });

  it('stands before or after the command, and is no argument', async () => {
    const { user } = await shop;
    const { code, stdout } = await user.run(['--columns', 'state,audiofile', 'file', '1', '2']);
    expect([code, stdout]).toEqual([0, 'Delivered\t1\nDelivered\t2\n']);
  });

  it.each([
    [
      'files --columns audiofle',
      "steno: files has no column 'audiofle'\nhint: did you mean audiofile? its columns: ",
    ],
    [
      'order https://a.example/1.mp3 --sku TRANS14 --columns nope',
      "steno: order has no column 'nope'\nhint: ",
    ],
    [
      'order https://a.example/1.mp3 --sku TRANS14 --dry-run --columns hold',
      "steno: order has no column 'hold'\n",
    ],
    [
      'config set currency EUR --columns a',
      'steno: --columns has no effect here: this command prints no table\n',
    ],
    ['completion bash --markdown', 'steno: --markdown has no effect here: this command prints no table\n'],
    [
      'files --columns state --json',
      '{"error":{"code":"usage","message":"--columns and --json can\'t be used together"',
    ],
    ['files --markdown --csv', "steno: --markdown and --csv can't be used together\n"],
    ['files --columns state --quiet', "steno: --quiet and --columns can't be used together\n"],
    ['files --columns state,', "steno: --columns has an empty value: 'state,'\n"],
  ])('%s exits 2 before anything is sent', async (line, message) => {
    const { user, service } = await shop;
    const before = service.got.length;
    const { code, stderr, stdout } = await user.run(line.split(' '));
    expect([code, stdout, service.got.length]).toEqual([2, '', before]);
    expect(stderr.startsWith(message)).toBe(true);
  });

  it('of a list of invoices have the names that its JSON has', async () => {
    const { user } = await orderingAccount();
    expect((await user.run(['invoice', '--csv'])).stdout).toBe(
      'invoice,state,purchase_order,created,paid,total,currency\r\n',
    );
  });

  it('of an order are those of a file, also of one that is not waited for', async () => {
    const { user, service } = await orderingAccount();
    const line = ['order', 'https://a.example/1.mp3', '--sku', 'TRANS14', '--tag', 'x'];
    const { code, stdout } = await user.run([...line, '--columns', 'audiofile,tags,skus']);
    expect([code, stdout]).toEqual([0, '1\tx\tTRANS14\n']);
    expect(service.got).toHaveLength(1);
  });
});

describe('--markdown', () => {
  it('has the columns that a person sees, and keeps text from being markup', async () => {
    const { user } = await shop;
    const { stdout } = await user.run(['files', '--markdown']);
    const [head = '', rule = '', row = ''] = stdout.split('\n');
    expect(head.startsWith('| audiofile | state | title | minutes | total |')).toBe(true);
    expect(rule.startsWith('| --- | --- | --- | ---: | ---: |')).toBe(true);
    expect(row).toContain('| A \\| B \\`c\\` \\<img src=x\\> \\[d\\](http://e) \\_f\\_ \\\\ \\@g |');
    expect(stdout.split('\n').length).toBe(5);
  });

  it('is the same on a terminal', async () => {
    const { user } = await shop;
    const { stdout } = await user.run(['files', '--markdown']);
    expect((await user.onTerminal('steno files --markdown')).stdout.replaceAll('\r', '')).toBe(stdout);
  });

  it('of nothing is a header', async () => {
    const { user } = await orderingAccount();
    const { code, stdout } = await user.run(['attempts', '--markdown']);
    expect([code, stdout.split('\n').length]).toEqual([0, 3]);
  });
});
