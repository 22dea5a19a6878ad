/** The service gives a draft as long as it works on a file: only what is delivered is kept by itself, and for good. */
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listing } from '../../support/files.ts';
import { audio, folderIn, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { complete, form, Listener } from '../../support/listener.ts';

const route = 'POST /audiofile/1/transcript.txt';
const read = ({ user }: OrderingAccount): string => readFileSync(join(user.home, 'd', '1.txt'), 'utf8');

/** A file that is being transcribed, and its draft in the folder d, as `transcript` wrote it. */
async function withDraft(): Promise<OrderingAccount> {
  const it = await orderingAccount();
  it.states.set('1', ['Transcribing']);
  await it.order(audio('a'));
  it.service.on(route, { body: 'draft' });
  expect((await it.user.run(['transcript', '1', '-o', 'd/'])).code).toBe(0);
  expect(it.askedFiles()).toEqual([]);
  return it;
}

const commands = [
  ['sync', ['sync', '--download', 'd']],
  ['wait', ['wait', '1', '--download', 'd']],
] as const;

describe('a delivery that is forged or early', () => {
  it('brings no draft: the state is asked first, and the transcript comes when it is delivered', async () => {
    const { user, states, order, askedFiles, fetched } = await orderingAccount();
    states.set('1', ['Transcribing']);
    await order(audio('a'));
    const listener = await Listener.start(user, ['--download', 'd', '--quiet']);
    await listener.post(complete('1'));
    await listener.until(() => askedFiles().length >= 2);
    expect([fetched(), listing(join(user.home, 'd'))]).toEqual([[], []]);
    states.set('1', ['Delivered']);
    await listener.until(() => listener.lines.includes('d/1.txt'));
    expect(fetched()).toEqual(['1.txt']);
    await listener.stop();
  });

  it('of a file that can no longer be delivered is given up at once', async () => {
    const { user, states, fetched } = await orderingAccount();
    states.set('9', ['Refunded']);
    const listener = await Listener.start(user, ['--download', 'd', '--count', '1']);
    await listener.post(complete('9'));
    const { stderr } = await listener.ended;
    expect(stderr).toMatch(
      /event 1: download .* failed: ended as 'Refunded', so there will be no transcript/,
    );
    expect(fetched()).toEqual([]);
  });

  it('brings the transcript without asking where the service has said before that it is delivered', async () => {
    const { user, service, order, fetched } = await orderingAccount();
    await order(audio('a'));
    await user.run(['file', '1']);
    // Whoever asks again gets no answer that helps.
    service.allow('GET /audiofile/1', { status: 404, body: 'gone' });
    const listener = await Listener.start(user, ['--download', 'd', '--format', 'txt,srt', '--count', '1']);
    await listener.post(complete('1'));
    await listener.ended;
    expect(fetched()).toEqual(['1.txt', '1.srt']);
  });

  it('is asked about once for all formats', async () => {
    const { user, askedFiles, fetched } = await orderingAccount();
    const listener = await Listener.start(user, ['--download', 'd', '--format', 'txt,srt', '--count', '1']);
    await listener.post(complete('5'));
    await listener.ended;
    expect([askedFiles(), fetched()]).toEqual([['5'], ['5.txt', '5.srt']]);
  });

  it('leaves a draft on disk as it is', async () => {
    const it = await withDraft();
    it.states.set('1', ['Delivered']);
    const listener = await Listener.start(it.user, ['--download', 'd', '--count', '2']);
    await listener.post(complete('1'));
    await listener.post(form({ event: 'OTHER', audiofile: '1' }));
    expect((await listener.ended).stderr).toContain('d/1.txt (already exists, left unchanged)');
    expect([read(it), it.fetched()]).toEqual(['draft', ['1.txt']]);
  });
});

describe('a draft that we wrote ourselves', () => {
  it.each(commands)('is replaced by %s once the file is delivered, and not before', async (name, args) => {
    const it = await withDraft();
    if (name === 'sync') {
      expect((await it.user.run([...args, '--quiet'])).stdout).toBe('');
      expect([read(it), it.fetched()]).toEqual(['draft', ['1.txt']]);
    }
    it.states.set('1', ['Delivered']);
    it.service.on(route, { body: 'The final text.' });
    const { code, stdout, stderr } = await it.user.run([...args, '--quiet']);
    expect([code, stdout, stderr]).toEqual([0, 'd/1.txt\n', '']);
    expect(read(it)).toBe('The final text.');
    await it.user.run(args);
    expect((await it.user.run(['sync', '--download', 'd', '--quiet'])).stdout).toBe('');
    expect(it.fetched()).toHaveLength(2);
    expect(listing(join(it.user.home, 'd'))).toEqual(['1.txt']);
  });

  it.each(commands)(
    'and that was changed is left as it is by %s, and nothing is fetched',
    async (_, args) => {
      const it = await withDraft();
      const path = join(it.user.home, 'd', '1.txt');
      const { atime, mtime } = statSync(path);
      writeFileSync(path, 'Draft');
      utimesSync(path, atime, mtime);
      it.states.set('1', ['Delivered']);
      const { code, stdout, stderr } = await it.user.run([...args, '--quiet']);
      expect([code, stdout, stderr]).toEqual([0, '', expect.stringMatching(/^warning: .*d\/1\.txt/)]);
      expect([read(it), it.fetched()]).toEqual(['Draft', ['1.txt']]);
    },
  );

  it.each(commands)('and that is changed during the download is left as it is by %s', async (_, args) => {
    const it = await withDraft();
    it.states.set('1', ['Delivered']);
    it.service.on(route, (_got, response) => {
      writeFileSync(join(it.user.home, 'd', '1.txt'), 'mine');
      response.end('The final text.');
    });
    expect((await it.user.run([...args, '--quiet'])).stdout).toBe('');
    expect(read(it)).toBe('mine');
    expect(listing(join(it.user.home, 'd'))).toEqual(['1.txt']);
  });

  it('is known to be one also where the ledger does not know the file', async () => {
    const it = await orderingAccount();
    await it.order(audio('other'));
    it.service.on('POST /audiofile/5/transcript.txt', { body: 'draft' }, { body: 'The final text.' });
    await it.user.run(['transcript', '5', '-o', 'd/']);
    const { stdout } = await it.user.run(['wait', '5', '--download', 'd', '--quiet']);
    expect(stdout).toBe('d/5.txt\n');
    expect(readFileSync(join(it.user.home, 'd', '5.txt'), 'utf8')).toBe('The final text.');
  });
});

describe('what sync or transcript --skip-existing leaves as it is', () => {
  it('is told by transcript where it is a draft, and not where it is final', async () => {
    const it = await withDraft();
    const line = ['transcript', '1', '-o', 'd/', '--skip-existing', '--quiet'];
    const { code, stdout, stderr } = await it.user.run(line);
    expect([code, stdout, read(it)]).toEqual([0, '', 'draft']);
    expect(stderr).toMatch(
      /^warning: already exists, but was saved before the delivery: d\/1\.txt\nhint: [^\n]*--force/,
    );
    it.states.set('1', ['Delivered']);
    it.service.on(route, { body: 'The final text.' });
    await it.user.run(['sync', '--download', 'd']);
    expect(await it.user.run(line)).toMatchObject({ code: 0, stderr: '' });
  });

  it('is told by sync, run after run, where someone else wrote it', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    writeFileSync(join(folderIn(it.user, 'd'), '1.txt'), 'mine');
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await it.user.run(['sync', '--download', 'd', '--quiet']);
      expect([code, stdout, read(it)]).toEqual([0, '', 'mine']);
      expect(stderr).toMatch(/^warning: already exists, not written: d\/1\.txt\nhint: [^\n]*--force\n$/);
    }
    await it.user.run(['transcript', '1', '-o', 'd/', '--force']);
    expect((await it.user.run(['sync', '--download', 'd', '--quiet'])).stderr).toBe('');
  });

  it.each([
    ['txt', 'd e/1.txt', "steno transcript 1 --format txt -o 'd e/1.txt' --force"],
    ['srt', 'd/1.srt', 'steno transcript 1 --format srt -o d/1.srt --force'],
  ])('is replaced by the line that sync names: a changed draft in %s', async (ext, path, line) => {
    const it = await orderingAccount();
    const folder = path.split('/')[0] ?? '';
    it.states.set('1', ['Transcribing']);
    await it.order(audio('a'));
    await it.user.run(['transcript', '1', '--format', ext, '-o', `${folder}/`]);
    writeFileSync(join(it.user.home, path), 'changed');
    it.states.set('1', ['Delivered']);
    const sync = () => it.user.run(['sync', '--download', folder, '--format', ext]);
    const { stderr } = await sync();
    expect(stderr).toContain(`warning: ${path} is a draft`);
    expect(stderr).toContain(`hint: replace it with: ${line}\n`);
    await it.user.run(['transcript', '1', '--format', ext, '-o', path, '--force']);
    expect(readFileSync(join(it.user.home, path), 'utf8')).toBe(`transcript 1.${ext}\n`);
    expect((await sync()).stderr).not.toContain('warning');
  });

  it('is told by sync also where we wrote it as a draft before there was a ledger', async () => {
    const it = await orderingAccount({ STENO_LEDGER: undefined });
    it.states.set('1', ['Transcribing']);
    it.service.on(route, { body: 'draft' });
    await it.user.run(['transcript', '1', '-o', 'd/']);
    expect((await it.user.run(['track', '1'])).code).toBe(0);
    it.states.set('1', ['Delivered']);
    const { code, stderr } = await it.user.run(['sync', '--download', 'd']);
    expect([code, stderr, read(it)]).toEqual([
      0,
      expect.stringContaining('warning: already exists, not written: d/1.txt'),
      'draft',
    ]);
  });
});

describe('what is no draft', () => {
  it('is not fetched again: a transcript of a file that the ledger knows as delivered', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    await it.user.run(['file', '1']);
    await it.user.run(['transcript', '1', '-o', 'd/']);
    expect((await it.user.run(['sync', '--download', 'd', '--quiet'])).stdout).toBe('');
    await it.user.run(['wait', '1', '--download', 'd']);
    expect(it.fetched()).toEqual(['1.txt']);
  });

  it('is never replaced: a file of the same name that someone else wrote', async () => {
    const it = await withDraft();
    queryLedger(it.user, "UPDATE downloads SET file = '2'");
    it.states.set('1', ['Delivered']);
    await it.user.run(['sync', '--download', 'd']);
    expect(read(it)).toBe('draft');
  });
});
