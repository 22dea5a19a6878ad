/** So many transcripts that a thread of its own writes them: what goes wrong there is told as anywhere. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../../support/account.ts';
import { listing } from '../../support/files.ts';

const ids = Array.from({ length: 200 }, (_, n) => String(1000 + n));
const line = ['transcript', '--from', '-', '-o', 'd', '--quiet'];

/** Runs before the program, and before all that its threads run. The first sync is so slow that the thread is used. */
function preload(home: string, code: string): Record<string, string> {
  const path = join(home, 'preload.cjs');
  writeFileSync(
    path,
    `const fs = require('node:fs');
     const { isMainThread } = require('node:worker_threads');
     fs.fdatasyncSync = () => {
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
     };
     ${code}`,
  );
  return { NODE_OPTIONS: `--require ${path}` };
}

async function fetching() {
  const { service, user } = await account();
  service.on('*', (request, response) => void response.end(`text of ${request.path}`));
  const run = (code: string) => user.run(line, { stdin: ids.join('\n'), env: preload(user.home, code) });
  return { service, user, run };
}

describe.concurrent('many transcripts', () => {
  it('are written by another thread', async () => {
    const { user, run } = await fetching();
    const { code, stderr } = await run(
      `const { linkSync } = fs;
       fs.linkSync = (from, to) => {
         linkSync(from, to);
         fs.appendFileSync(${JSON.stringify(join(user.home, 'writers'))}, isMainThread ? 'm' : 't');
       };`,
    );
    expect([code, stderr]).toEqual([0, '']);
    const writers = readFileSync(join(user.home, 'writers'), 'utf8');
    expect(writers).toMatch(/^[mt]{200}$/);
    // What was on its way before the disk was found slow.
    expect(writers.replaceAll('t', '').length).toBeLessThanOrEqual(16);
    expect(listing(join(user.home, 'd'))).toEqual(ids.map((id) => `${id}.txt`));
    expect(readFileSync(join(user.home, 'd/1199.txt'), 'utf8')).toBe(
      'text of /audiofile/1199/transcript.txt',
    );
  });

  it('tell of a full disk for each file, leave nothing half-written, and are asked for once', async () => {
    const { service, user, run } = await fetching();
    const { code, stderr } = await run(
      `const { writeSync } = fs;
       fs.writeSync = (file, ...rest) => {
         if (isMainThread) return writeSync(file, ...rest);
         throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
       };`,
    );
    expect(code).toBe(10);
    expect(stderr).toContain("\nsteno: 1199: can't write d/1199.txt: the disk is full\n");
    const written = listing(join(user.home, 'd'));
    expect(stderr).toContain(`steno: ${200 - written.length} of 200 failed\n`);
    // By the first thread, before the disk was found slow.
    expect(written.length).toBeLessThanOrEqual(16);
    expect(written.filter((name) => name.startsWith('.'))).toEqual([]);
    expect(service.got).toHaveLength(200);
  });

  it('leave a file as it is that appeared meanwhile', async () => {
    const { user, run } = await fetching();
    const { code, stderr } = await run(
      `const { linkSync } = fs;
       fs.linkSync = (from, to) => {
         if (String(to).endsWith('1007.txt')) fs.writeFileSync(to, 'mine');
         return linkSync(from, to);
       };`,
    );
    expect(code).toBe(10);
    expect(stderr).toMatch(/^steno: 1007: d\/1007\.txt is there already\nsteno: 1 of 200 failed\n/);
    expect(readFileSync(join(user.home, 'd/1007.txt'), 'utf8')).toBe('mine');
    expect(listing(join(user.home, 'd'))).toHaveLength(200);
  });

  it('end with an error for each that was given to that thread if it ends; the rest is written', async () => {
    const { service, user, run } = await fetching();
    const { code, stderr } = await run('if (!isMainThread) fs.openSync = () => process.exit(3);');
    expect(code).toBe(10);
    expect(stderr).toMatch(/: the thread that writes files has ended\n/);
    expect(stderr).toMatch(/^steno: \d+ of 200 failed\n$/m);
    expect(service.got).toHaveLength(200);
    const written = listing(join(user.home, 'd'));
    expect(stderr).toContain(`steno: ${200 - written.length} of 200 failed\n`);
    // As many as are asked for at once, and as many again that are being written.
    expect(written.length).toBeGreaterThanOrEqual(200 - 32);
  });

  it('are written by the first thread if the system gives no other', async () => {
    const { service, user, run } = await fetching();
    const { code, stderr } = await run(
      `require('node:worker_threads').Worker = class {
         constructor() {
           throw Object.assign(new Error('no thread'), { code: 'ERR_WORKER_INIT_FAILED' });
         }
       };`,
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(listing(join(user.home, 'd'))).toEqual(ids.map((id) => `${id}.txt`));
    expect(readFileSync(join(user.home, 'd/1199.txt'), 'utf8')).toBe(
      'text of /audiofile/1199/transcript.txt',
    );
    expect(service.got).toHaveLength(200);
  });
});
