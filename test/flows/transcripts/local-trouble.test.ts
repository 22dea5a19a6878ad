/** A transcript that this machine can't keep: said in one line, and not asked for again. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { complete, Listener } from '../../support/listener.ts';

const route = 'POST /audiofile/5/transcript.txt';

/** Runs before the program. */
function preload(home: string, code: string): Record<string, string> {
  const path = join(home, 'preload.cjs');
  writeFileSync(path, `const fs = require('node:fs');\n${code}`);
  return { NODE_OPTIONS: `--require ${path}` };
}

/** Lets one call of the file system fail with a code, at once or in the pool, where it is about a transcript. */
const faultIn = (home: string, call: string, code: string): Record<string, string> =>
  preload(
    home,
    `const parts = new Set();
     const isPart = (first) => String(first).endsWith('.steno-part') || parts.has(first);
     const note = (path, file) => (isPart(path) ? parts.add(file) : parts.delete(file));
     const { open, openSync } = fs;
     fs.openSync = (path, ...rest) => {
       const file = openSync(path, ...rest);
       note(path, file);
       return file;
     };
     fs.open = (path, ...rest) => {
       const done = rest.pop();
       open(path, ...rest, (error, file) => {
         if (!error) note(path, file);
         done(error, file);
       });
     };
     const fault = () => Object.assign(new Error('${code}: fault'), { code: '${code}' });
     const { ${call}: later, ${call}Sync: atOnce } = fs;
     fs.${call}Sync = (first, ...rest) => {
       if (isPart(first)) throw fault();
       return atOnce(first, ...rest);
     };
     fs.${call} = (first, ...rest) => {
       if (isPart(first)) setImmediate(rest.at(-1), fault());
       else later(first, ...rest);
     };`,
  );

describe('a symlink to nowhere in the place of a transcript', () => {
  it('is called that, and nothing is fetched', async () => {
    const { service, user } = await account();
    service.never(route, { body: 'words' }).on('GET /audiofile/5', fileAnswer(5));
    symlinkSync('nowhere', join(user.home, '5.txt'));
    for (const args of [
      ['transcript', '5'],
      ['transcript', '5', '--skip-existing'],
      ['wait', '5', '--download', '.', '--timeout', '20s'],
    ]) {
      const { code, stdout, stderr } = await user.run(args);
      expect([code, stdout, stderr]).toEqual([
        1,
        expect.any(String),
        expect.stringMatching(/^steno: can't write (\.\/)?5\.txt: it is a broken symlink\n$/),
      ]);
    }
    expect(service.calls(route)).toHaveLength(0);
    expect(service.calls('GET /audiofile/5')).toHaveLength(1);
  });

  it('ends sync too, and the other transcripts are kept', async () => {
    const { user, order, fetched } = await orderingAccount();
    await order('https://e.com/1', 'https://e.com/2');
    mkdirSync(join(user.home, 'd'));
    symlinkSync('nowhere', join(user.home, 'd', '1.txt'));
    const { code, stderr } = await user.run(['sync', '--download', 'd']);
    expect([code, stderr]).toEqual([10, expect.stringContaining('1.txt: it is a broken symlink')]);
    expect(fetched()).toEqual(['2.txt']);
  });

  it('is replaced with --force, and its target is not made', async () => {
    const { service, user } = await account();
    service.on(route, { body: 'words' });
    symlinkSync('nowhere', join(user.home, '5.txt'));
    expect((await user.run(['transcript', '5', '--force'])).code).toBe(0);
    expect(readFileSync(join(user.home, '5.txt'), 'utf8')).toBe('words');
    expect(listing(user.home)).not.toContain('nowhere');
  });

  it('is no download folder either', async () => {
    const { service, user } = await account();
    symlinkSync('nowhere', join(user.home, 'd'));
    const { code, stderr } = await user.run(['wait', '5', '--download', 'd']);
    expect([code, stderr]).toEqual([2, "steno: 'd' is a broken symlink\n"]);
    expect(service.got).toEqual([]);
  });
});

describe('trouble of the disk', () => {
  it.each([
    ['open', 'EACCES', 'permission denied'],
    ['open', 'EROFS', 'the disk is read-only'],
    ['open', 'ENAMETOOLONG', 'the name is too long'],
    ['writeFile', 'ENOSPC', 'the disk is full'],
    ['fdatasync', 'ENOSPC', 'the disk is full'],
    ['close', 'ENOSPC', 'the disk is full'],
    ['link', 'EEXIST', 'no such file'],
  ])('that %s meets with %s is told after one fetch', async (call, code, reason) => {
    const { service, user } = await account();
    const isSeenBefore = call === 'open' || call === 'close';
    service.on(route, { body: 'words' });
    if (!isSeenBefore) service.on('GET /audiofile/5', fileAnswer(5));
    const env = faultIn(user.home, call, code);
    const waiting = ['wait', '5', '--download', 'd', '--timeout', '20s'];
    if (isSeenBefore) {
      mkdirSync(join(user.home, 'd'));
      const { code, stderr } = await user.run(waiting, { env });
      expect([code, service.got]).toEqual([2, []]);
      expect(stderr).toMatch(/^steno: can't write to \S+: .*\nhint: choose another folder for --download\n$/);
      expect(stderr).toContain(reason);
    }
    for (const args of [
      ['transcript', '5', '--skip-existing', '-o', 'd/'],
      ...(isSeenBefore ? [] : [waiting]),
    ]) {
      const before = service.got.length;
      const result = await user.run(args, { env });
      expect(result.stderr).toMatch(
        /^(transcripts go to a new folder: .*\n)?steno: can't write d\/5\.txt: .*\n$/,
      );
      expect(result.stderr).toContain(reason);
      expect(result.code).toBe(1);
      const calls = service.got.slice(before).map(({ path }) => path);
      expect(calls.filter((path) => path.endsWith('transcript.txt'))).toHaveLength(1);
      expect(calls.length).toBeLessThanOrEqual(2);
    }
  });

  it('that each of many meets is told for each, and leaves nothing behind', async () => {
    const { service, user } = await account();
    const ids = ['1', '2', '3', '4', '5', '6', '7', '8'];
    for (const id of ids) service.on(`POST /audiofile/${id}/transcript.txt`, { body: 'words' });
    const { code, stderr } = await user.run(['transcript', ...ids, '-o', 'd/', '--jobs', '2'], {
      env: faultIn(user.home, 'fdatasync', 'ENOSPC'),
    });
    expect(code).toBe(1);
    const failed = [...stderr.matchAll(/can't write d\/(\d)\.txt: .*the disk is full/g)].map(([, id]) => id);
    expect(failed).toEqual(ids);
    expect(listing(join(user.home, 'd'))).toEqual([]);
  });

  it('is none of a file that appears meanwhile: it is left as it is', async () => {
    const { service, user } = await account();
    for (const id of ['1', '2']) service.on(`POST /audiofile/${id}/transcript.txt`, { body: 'words' });
    const env = preload(
      user.home,
      `const { linkSync } = fs;
       fs.linkSync = (from, to) => {
         if (to.endsWith('1.txt')) fs.writeFileSync(to, 'mine');
         linkSync(from, to);
       };`,
    );
    const { code, stderr } = await user.run(['transcript', '1', '2', '-o', 'd/'], { env });
    expect([code, stderr]).toEqual([10, expect.stringMatching(/^steno: 1: d\/1\.txt already exists\n/)]);
    expect(readFileSync(join(user.home, 'd/1.txt'), 'utf8')).toBe('mine');
    expect(listing(join(user.home, 'd'))).toEqual(['1.txt', '2.txt']);
  });

  it('before the fetch is told without one', async () => {
    const { service, user } = await account();
    symlinkSync('loop', join(user.home, 'loop'));
    writeFileSync(join(user.home, 'file'), '');
    for (const [output, reason] of [
      ['loop', 'its symlinks form a loop'],
      ['file/x', 'part of its path is not a folder'],
      ['x'.repeat(300), 'the name is too long'],
    ] as const) {
      const { code, stderr } = await user.run(['transcript', '5', '-o', output]);
      expect([code, stderr]).toEqual([1, `steno: can't write ${output}: ${reason}\n`]);
    }
    expect(service.got).toEqual([]);
  });
});

describe('a listener that meets trouble of the disk', () => {
  it('tries again later', async () => {
    const { service, user } = await account();
    service.allow(route, { body: 'words' }).allow('GET /audiofile/5', fileAnswer(5));
    const env = faultIn(user.home, 'writeFile', 'ENOSPC');
    const listener = await Listener.start(user, ['--download', 'd'], { env });
    await listener.post(complete('5'));
    const said = /failed, will be retried: can't write d\/5\.txt: the disk is full/;
    await listener.until(() => said.test(listener.stderr));
    expect(service.calls(route)).toHaveLength(1);
    await listener.until(() => service.calls(route).length === 2);
    await listener.stop();
  });
});
