/** What the author of a script guesses, who has not read how each command prints its JSON. */
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { User } from '../support/steno.ts';

type Found = Record<string, unknown>;

/** What `jq <path>` prints, for a path such as `.[0].audiofile`. */
const at = (document: unknown, path: string): unknown =>
  [...path.matchAll(/\.(\w+)|\[(\d+)\]/g)].reduce<unknown>(
    (value, [, name, index]) => (value as Found | undefined)?.[name ?? index ?? ''],
    document,
  );

describe('a guess in a script is right:', { timeout: 120_000 }, () => {
  const user = new User();
  const json = async (line: string): Promise<unknown> => {
    const { stdout, stderr } = await user.run(['--sandbox', ...line.split(' '), '--json']);
    expect(stderr.includes('"error"'), `${line}: ${stderr}`).toBe(false);
    return JSON.parse(stdout);
  };
  const guess = async (line: string, ...paths: string[]): Promise<unknown[]> => {
    const document = await json(line);
    return paths.map((path) => at(document, path));
  };

  it('orders, files, transcripts and their invoice', async () => {
    const [id, order] = await guess(`order ${audio('quick')} --sku TRANS14`, '.[0].audiofile', '.[0].order');
    expect([id, order]).toEqual([expect.any(String), expect.any(String)]);
    expect(await guess(`wait ${id} --interval 100ms`, '.state', '.audiofile')).toEqual(['Delivered', id]);
    expect(await guess('files', '.[0].audiofile', '.[0].order')).toEqual([id, order]);
    expect(await guess(`file ${id}`, '.state', '.answer.audiofile.statename')).toEqual([
      'Delivered',
      'Delivered',
    ]);
    expect(await guess(`transcript ${id} -o here.txt`, '.[0].path', '.[0].audiofile')).toEqual([
      'here.txt',
      id,
    ]);
    expect(await guess('sync --download in', '.[0].path', '.[0].audiofile')).toEqual([`in/${id}.txt`, id]);
    const [[invoice]] = (await guess(`file ${id}`, '.invoices')) as [string[]];
    const [found, total, file] = await guess(
      `invoice ${invoice}`,
      '.invoice',
      '.total',
      '.items[0].audiofile',
    );
    expect([found, typeof total, file]).toEqual([invoice, 'number', id]);
    expect(await guess(`upgrade ${id} --sku TSTMP1`, '.audiofile', '.skus')).toEqual([
      id,
      ['TRANS14', 'TSTMP1'],
    ]);
  });

  it('the account and its settings', async () => {
    const [balance, currency] = await guess('balance', '.balance', '.currency');
    expect([typeof balance, currency]).toEqual(['number', 'USD']);
    const [profile, source, ledger, account] = await guess(
      ...(['whoami', '.profile', '.sources.base_url', '.ledger', '.account'] as const),
    );
    expect([profile, source, account]).toEqual(['sandbox', 'sandbox', 'sandbox']);
    expect(ledger).toEqual(expect.stringContaining('ledger.db'));
    expect(await guess('webhook get', '.url')).toEqual([null]);
    const url = 'https://hooks.example.com/steno?token=abc';
    expect(await guess(`webhook set ${url}`, '.url')).toEqual([url]);
    expect(await guess('webhook get', '.url')).toEqual([url]);
  });
});

it('finds attempts and events under their own names', async () => {
  const { user, service, order } = await orderingAccount();
  service.on('POST /order_url', { status: 500 });
  expect((await order(audio('a'))).code).toBe(11);
  const attempts = JSON.parse((await user.run(['attempts', '--json'])).stdout);
  expect(at(attempts, '.[0].attempt')).toBe(1);
  const listener = await Listener.start(user, ['--json']);
  await listener.post(complete('1', 'a'));
  await listener.until(() => listener.json.length === 1);
  await listener.stop();
  const events = JSON.parse((await user.run(['events', '--json'])).stdout);
  expect(at(events, '.[0].event')).toBe('TRANSCRIPT_COMPLETE');
});

describe('the shape follows from the command line alone:', { timeout: 60_000 }, () => {
  it('a transcript is an element, also where there is one and it failed', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /audiofile/9/transcript.txt', { status: 404 });
    const { stdout } = await user.run(['transcript', '9', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ audiofile: '9', format: 'txt', error: { code: 'missing' } }]);
  });
});

it("leaves the service's answer as it came, to the digit and the letter", async () => {
  const { user, service } = await orderingAccount();
  const link = 'https://b.s3.amazonaws.com/a.mp3?X-Amz-Signature=abc&X-Amz-Credential=d';
  const body = `{"audiofile":{"id":12345678901234567890,"statename":"Delivered","total":1.10,"originallink":"${link}","x":1e2}}`;
  service.on('GET /audiofile/12345678901234567890', { body });
  const { stdout } = await user.run(['file', '12345678901234567890', '--json']);
  expect(stdout.replace(/\s+/g, '')).toContain(`"answer":${body}`);
  expect(JSON.parse(stdout)).toMatchObject({ audiofile: '12345678901234567890' });
  expect(stdout).toContain('"total": 1.10');
  expect(JSON.parse(stdout).url).not.toContain('Signature');
});
