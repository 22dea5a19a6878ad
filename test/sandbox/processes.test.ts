import { type ChildProcess, spawn } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { balance, type Client, clientOf, open, order, receive, stateOf } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let program: string;

beforeAll(async () => {
  const folder = freshFolder();
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  program = join(folder, 'serve.mjs');
  const contents = `
    import { startSandbox } from ${JSON.stringify(join(root, 'src/sandbox/index.ts'))};
    const sandbox = await startSandbox(JSON.parse(process.argv[2]));
    process.stdout.write(sandbox.baseUrl + ' ' + sandbox.apiKey + '\\n');
    process.stdin.resume().on('end', () => sandbox.close());`;
  const input = join(folder, 'serve.ts');
  writeFileSync(input, contents);
  await build({
    input,
    platform: 'node',
    external: [/^@photostructure\/sqlite/],
    output: { file: program, format: 'esm', codeSplitting: false },
  });
});

async function serve(options: SandboxOptions): Promise<Client & { child: ChildProcess }> {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  );
  const [baseUrl = '', key = ''] = line.trim().split(' ');
  return { child, ...clientOf(baseUrl, key) };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

it('two processes on the same data neither double nor lose an event', async () => {
  const folder = freshFolder();
  const receiver = await receive();
  const servers = await Promise.all([
    serve({ folder, speed: 20 }),
    serve({ folder, speed: 20 }),
    serve({ folder, speed: 20 }),
  ]);
  await servers[0].post('/webhook', { webhook: receiver.url });
  const placed = await Promise.all(
    Array.from({ length: 150 }, (_, n) =>
      order(servers[n % 3] as Client, `https://a.example/${n % 2 ? 'difficult' : 'plain'}-${n}.mp3`),
    ),
  );
  expect(new Set(placed.map(({ order: id }) => id)).size).toBe(150);
  await until(() => receiver.events.length >= 225, '225 events');
  await sleep(400);
  const sent = receiver.events.map(({ event, audiofile }) => `${event} ${audiofile}`);
  expect(sent).toHaveLength(225);
  expect(new Set(sent).size).toBe(225);
});

it('an order placed by one process is seen, and its event sent, by another', async () => {
  const folder = freshFolder();
  const receiver = await receive();
  const other = await serve({ folder });
  await other.post('/webhook', { webhook: receiver.url });
  const mine = await open({ folder, speed: 10 });
  const { file } = await order(mine);
  await mine.sandbox.close();
  expect(await stateOf(other, file)).not.toBe('Delivered');
  await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
});

it('closes at once when nothing is under way, and leaves no process behind', async () => {
  const { child } = await serve({ folder: freshFolder() });
  const start = Date.now();
  const code = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  expect(await code).toBe(0);
  expect(Date.now() - start).toBeLessThan(1000);
});

it('kill -9 at any time leaves data that opens, with every order that was answered', async () => {
  const folder = freshFolder();
  const receiver = await receive();
  const answered = new Map<string, string>();
  for (let round = 0; round < 8; round += 1) {
    const server = await serve({ folder, speed: 100 });
    await server.post('/webhook', { webhook: receiver.url });
    const calls = Promise.allSettled(
      Array.from({ length: 40 }, async (_, n) => {
        const placed = await order(server, `https://a.example/${round}/${n}.mp3`);
        answered.set(placed.file, placed.order);
      }),
    );
    await sleep(Math.random() * 120);
    await kill(server.child);
    await calls;
  }
  const client = await open({ folder });
  for (const file of answered.keys()) expect(await stateOf(client, file)).toEqual(expect.any(String));
  expect(answered.size).toBeGreaterThan(0);
  expect(await balance(client)).toBeLessThan(25_000);
  const next = await order(client, 'https://a.example/after.mp3');
  expect(answered.has(next.file)).toBe(false);
  await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: next.file });
  const sent = receiver.events.map(({ audiofile }) => audiofile);
  expect(new Set(sent).size).toBe(sent.length);
});

it('many processes can open a new folder at the same moment', async () => {
  const folder = join(freshFolder(), 'new');
  const servers = await Promise.all(Array.from({ length: 6 }, () => serve({ folder })));
  const replies = await Promise.all(servers.map((server) => server.get('/audiofile/100')));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
});

it('kill -9 while a folder is being set up leaves one that opens', async () => {
  const folder = join(freshFolder(), 'new');
  for (let round = 0; round < 8; round += 1) {
    // With an open stdin: at its end the program would stop by itself before it is killed.
    const child = spawn(process.execPath, [program, JSON.stringify({ folder })], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    await sleep(60 + Math.random() * 100);
    await kill(child);
  }
  await order(await open({ folder }));
});
