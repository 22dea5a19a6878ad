/** Stack traces of --debug name the files and lines of src, not those of the bundle. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { account } from '../support/account.ts';

const frame = /^ +at .*[( ](\S+):(\d+):\d+\)?$/gm;

it('shows where in src an error arose, with --debug', async () => {
  const { service, user } = await account();
  service.on('*', { status: 400, body: { message: 'no' } });
  const { code, stderr } = await user.run(['balance', '--debug']);
  expect(code).toBe(1);
  const frames = [...stderr.matchAll(frame)].filter(([, path = '']) => !path.startsWith('node:'));
  expect(frames.length).toBeGreaterThan(2);
  for (const [, path = ''] of frames) expect(path).toMatch(/\/src\/[\w/.-]+\.ts$/);
  const call = frames.find(([, path = '']) => path === resolve('src/api/account.ts'));
  const line = readFileSync('src/api/account.ts', 'utf8').split('\n')[Number(call?.[2]) - 1];
  expect(line).toContain('await requestJson(');
});

it('shows no stack trace without it', async () => {
  const { service, user } = await account();
  service.on('*', { status: 400, body: { message: 'no' } });
  const { code, stderr } = await user.run(['balance']);
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/^ +at /m);
});
