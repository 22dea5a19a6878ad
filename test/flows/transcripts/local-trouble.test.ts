/** A transcript that this machine can't keep: said in one line, and not asked for again. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { complete, Listener } from '../../support/listener.ts';

const route = 'POST /audiofile/5/transcript.txt';

/** Lets one call of the file system fail with a code, where the path says that it is about a transcript. */
function faultIn(home: string, call: string, code: string): Record<string, string> {
  const path = join(home, `${call}-${code}.cjs`);
  writeFileSync(
    path,
    `const fs = require('node:fs');
     const real = fs[${JSON.stringify(call)}];
     const fault = () => Object.assign(new Error(${JSON.stringify(`${code}: fault`)}), { code: ${JSON.stringify(code)} });
     const partials = new Set();
     const openSync = fs.openSync;
     fs.openSync = (path, ...rest) => {
       const file = openSync(path, ...rest);
       if (String(path).endsWith('.steno-part')) partials.add(file);
       return file;
     };
     const open = fs.openSync;
     fs[${JSON.stringify(call)}] = (first, ...rest) => {
       if (String(first).endsWith('.steno-part') || partials.has(first)) throw fault();
       return (${JSON.stringify(call)} === 'openSync' ? open : real)(first, ...rest);
     };`,
  );
  return { NODE_OPTIONS: `--require ${path}` };
}

/** Notes each sync of a transcript, and of the folder `d`. */
function syncsNoted(home: string): Record<string, string> {
  const path = join(home, 'syncs.cjs');
  writeFileSync(
    path,
    `const fs = require('node:fs');
     const kinds = new Map();
     const note = (path, file) => {
       kinds.delete(file);
       if (String(path).endsWith('.steno-part')) kinds.set(file, 'part');
       if (path === 'd') kinds.set(file, 'folder');
     };
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
     for (const name of ['fsync', 'fsyncSync', 'fdatasync', 'fdatasyncSync']) {
       const real = fs[name];
       fs[name] = (file, ...rest) => {
         if (kinds.has(file))
           fs.appendFileSync(${JSON.stringify(join(home, 'syncs'))}, name + ' ' + kinds.get(file) + '\\n');
         return real(file, ...rest);
       };
     }`,
  );
  return { NODE_OPTIONS: `--require ${path}` };
}

const notedSyncs = (home: string): string[] =>
  readFileSync(join(home, 'syncs'), 'utf8').split('\n').filter(Boolean);

/** A sync takes 20 ms in the program's thread, and fails with a code in another one. */
function slowDisk(home: string, code: string): Record<string, string> {
  const path = join(home, 'slow-disk.cjs');
  writeFileSync(
    path,
    `const fs = require('node:fs');
     const real = fs.fdatasyncSync;
     fs.fdatasyncSync = (file) => {
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
       real(file);
     };
     fs.fdatasync = (file, done) => setImmediate(done, Object.assign(new Error('fault'), { code: '${code}' }));`,
  );
  return { NODE_OPTIONS: `--require ${path}` };
}

describe.concurrent('a symlink to nowhere in the place of a transcript', () => {
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
        expect.stringMatching(/^steno: can't write (\.\/)?5\.txt: it is a symlink to nowhere\n$/),
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
    expect([code, stderr]).toEqual([10, expect.stringContaining('1.txt: it is a symlink to nowhere')]);
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
    expect([code, stderr]).toEqual([2, "steno: 'd' is a symlink to nowhere\n"]);
    expect(service.got).toEqual([]);
  });
});

describe.concurrent('trouble of the disk', () => {
  it.each([
    ['openSync', 'EACCES', 'permission denied'],
    ['openSync', 'EROFS', 'the disk can only be read'],
    ['openSync', 'ENAMETOOLONG', 'the name is too long'],
    ['writeSync', 'ENOSPC', 'the disk is full'],
    ['fdatasyncSync', 'ENOSPC', 'the disk is full'],
    ['closeSync', 'ENOSPC', 'the disk is full'],
    ['linkSync', 'EEXIST', 'no such file'],
  ])('that %s meets with %s is told after one fetch', async (call, code, reason) => {
    const { service, user } = await account();
    service.on(route, { body: 'words' }).on('GET /audiofile/5', fileAnswer(5));
    const env = faultIn(user.home, call, code);
    for (const args of [
      ['transcript', '5', '--skip-existing', '-o', 'd/'],
      ['wait', '5', '--download', 'd', '--timeout', '20s'],
    ]) {
      const before = service.got.length;
      const result = await user.run(args, { env });
      expect(result.stderr).toMatch(/^steno: can't write d\/5\.txt: .*\n$/);
      expect(result.stderr).toContain(reason);
      expect(result.code).toBe(1);
      const calls = service.got.slice(before).map(({ path }) => path);
      expect(calls.filter((path) => path.endsWith('transcript.txt'))).toHaveLength(1);
      expect(calls.length).toBeLessThanOrEqual(2);
    }
  });

  it.each([
    ['small ones, after some that took long', 'words'],
    ['large ones', 'words '.repeat(20_000)],
  ])('that a sync of another thread meets is told for each: %s', async (_, body) => {
    const { service, user } = await account();
    const ids = ['1', '2', '3', '4', '5', '6', '7', '8'];
    for (const id of ids) service.on(`POST /audiofile/${id}/transcript.txt`, { body });
    const { code, stderr } = await user.run(['transcript', ...ids, '-o', 'd/', '--jobs', '2'], {
      env: slowDisk(user.home, 'ENOSPC'),
    });
    expect(code).toBeGreaterThan(0);
    const failed = [...stderr.matchAll(/can't write d\/(\d)\.txt: .*the disk is full/g)].map(([, id]) => id);
    expect(failed).toContain('8');
    expect(listing(join(user.home, 'd'))).toEqual(
      ids.filter((id) => !failed.includes(id)).map((id) => `${id}.txt`),
    );
  });

  it('at a device is told after one fetch', async () => {
    const { service, user } = await account();
    service.on(route, { body: 'words' });
    const { code, stderr } = await user.run(['transcript', '5', '-o', '/dev/full']);
    expect([code, stderr]).toEqual([1, "steno: can't write /dev/full: the disk is full\n"]);
    expect(service.got).toHaveLength(1);
  });

  it('before the fetch is told without one', async () => {
    const { service, user } = await account();
    symlinkSync('loop', join(user.home, 'loop'));
    writeFileSync(join(user.home, 'file'), '');
    for (const [output, reason] of [
      ['loop', 'symlinks lead in a circle'],
      ['file/x', 'it lies below a file'],
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
    const env = faultIn(user.home, 'writeSync', 'ENOSPC');
    const listener = await Listener.start(user, ['--download', 'd'], { env });
    await listener.post(complete('5'));
    const said = /is tried again later: can't write d\/5\.txt: the disk is full/;
    await listener.until(() => said.test(listener.stderr));
    expect(service.calls(route)).toHaveLength(1);
    await listener.until(() => service.calls(route).length === 2);
    await listener.stop();
  });

  it('never waits for a sync of a transcript, or of its folder, on the thread that answers deliveries', async () => {
    const { service, user } = await account();
    service.on(route, { body: 'words' }).allow('GET /audiofile/5', fileAnswer(5));
    const listener = await Listener.start(user, ['--download', 'd'], { env: syncsNoted(user.home) });
    await listener.post(complete('5'));
    await listener.until(() => /downloaded d\/5\.txt/.test(listener.stderr));
    await listener.stop();
    expect(notedSyncs(user.home)).toEqual(['fdatasync part', 'fsync folder']);
  });
});
