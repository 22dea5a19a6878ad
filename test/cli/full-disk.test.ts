/** A disk that is full hides what a command says, never how it ended. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../support/account.ts';
import type { Answer } from '../support/server.ts';
import { sliceOf } from '../support/slices.ts';
import { BIN, finished, type Result, type User } from '../support/steno.ts';

type Stream = '1' | '2' | 'both';

function runOnFullDisk(user: User, stream: Stream, args: readonly string[]): Promise<Result> {
  const redirections = { 1: '> /dev/full', 2: '2> /dev/full', both: '> /dev/full 2>&1' };
  const command = `"$@" ${redirections[stream]}`;
  const child = spawn('sh', ['-c', command, 'sh', process.execPath, BIN, ...args], {
    cwd: user.home,
    env: user.env,
  });
  child.stdin.on('error', () => {});
  child.stdin.end();
  return finished(child);
}

const order = ['order', 'https://example.com/a.mp3', '--sku', 'TRANS14'];
const placed: Answer = { body: { order: '0a0', audiofiles: [1], message: 'ok' } };
const later: Answer = { body: { order: '0b0', audiofiles: [2], message: 'ok' } };
const held: Answer = { body: { order: '0a0', audiofiles: [1], message: 'ok', hold: 'billing' } };
const broken: Answer = { status: 500, body: {} };

interface Case {
  readonly args: readonly string[];
  readonly on?: readonly [string, Answer];
  readonly code: number;
}

const cases: Readonly<Record<string, Case>> = {
  'an order that is unclear': { args: order, on: ['POST /order_url', broken], code: 11 },
  'an upgrade that is unclear': {
    args: ['upgrade', '5', '--sku', 'TSTMP1'],
    on: ['POST /audiofile/5/upgrade', broken],
    code: 11,
  },
  'a refund that is unclear': {
    args: ['refund', '5', '--yes'],
    on: ['POST /audiofile/5/refund', broken],
    code: 11,
  },
  'a wrong flag': { args: ['order', '--nonsense'], code: 2 },
  'a wrong key': {
    args: ['balance'],
    on: ['GET /prepay_balance', { status: 401, body: {} }],
    code: 3,
  },
  'an unknown file': { args: ['file', '7'], on: ['GET /audiofile/7', { status: 404, body: {} }], code: 4 },
  'an order on hold, which is a failure': {
    args: [...order, '--fail-on-hold'],
    on: ['POST /order_url', held],
    code: 5,
  },
  'a wait that takes too long': {
    args: ['wait', '7', '--timeout', '300ms'],
    on: ['GET /audiofile/7', fileAnswer(7, 'Transcribing')],
    code: 6,
  },
};

describe.skipIf(!existsSync('/dev/full')).concurrent('on a full disk', () => {
  for (const [name, { args, on, code }] of Object.entries(cases))
    it.each<Stream>(sliceOf(['1', '2', 'both'], 2))(
      `${name} keeps its exit code (stream %s)`,
      async (stream) => {
        const { service, user } = await account();
        if (on) service.on(...on);
        for (const flags of [[], ['--json']])
          expect((await runOnFullDisk(user, stream, [...args, ...flags, ...againOf(args)])).code).toBe(code);
      },
    );

  it.each<Stream>(sliceOf(['1', '2', 'both'], 2))(
    'what is on order keeps its exit code (stream %s)',
    async (stream) => {
      const { service, user } = await account();
      service.on('POST /order_url', placed);
      await user.run(order);
      expect((await runOnFullDisk(user, stream, order)).code).toBe(9);
      writeFileSync(join(user.home, 'list.txt'), 'https://example.com/a.mp3\n');
      const manifest = ['order', '--from', 'list.txt', '--sku', 'TRANS14', '--json'];
      expect((await runOnFullDisk(user, stream, manifest)).code).toBe(9);
    },
  );

  it('an order on hold that is no failure ends with 0 where only its warning is lost', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', held);
    const { code, stdout } = await runOnFullDisk(user, '2', order);
    expect([code, stdout]).toEqual([0, '1\t0a0\tOn Hold\thttps://example.com/a.mp3\tbilling\n']);
  });

  it('an order whose ids are lost ends with 1, and one that is partly refused with 10', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed, { status: 400, body: { message: 'no' } }, later);
    const two = [
      'order',
      'https://e.org/a.mp3',
      'https://e.org/b.mp3',
      '--per-order',
      '1',
      '--sku',
      'TRANS14',
    ];
    const partly = await runOnFullDisk(user, '1', two);
    expect([partly.code, partly.stderr]).toEqual([10, expect.stringContaining('order 0a0 is placed')]);
    expect((await runOnFullDisk(user, '1', [...order, '--again'])).code).toBe(1);
  });

  it.each<[string, string[], [string, Answer][], string]>([
    [
      'webhook set',
      ['webhook', 'set', 'https://hooks.example/x'],
      [['POST /webhook', { body: { webhook: 'https://hooks.example/x' } }]],
      'the webhook is set to https://hooks.example/x',
    ],
    [
      'webhook test',
      ['webhook', 'test', 'DIFFICULT_AUDIO'],
      [['POST /webhook/test/DIFFICULT_AUDIO', { body: { webhook: 'https://hooks.example/x' } }]],
      'requested a test of DIFFICULT_AUDIO to https://hooks.example/x',
    ],
    ['track', ['track', '7'], [['GET /audiofile/7', fileAnswer(7)]], 'added to the ledger: audiofile 7'],
    [
      'transcript',
      ['transcript', '7', '8', '--force'],
      [
        ['POST /audiofile/7/transcript.txt', { body: 'A talk.' }],
        ['POST /audiofile/8/transcript.txt', { body: 'A talk.' }],
      ],
      '2 transcripts saved: 7.txt, 8.txt',
    ],
    ['api', ['api', 'POST', '/webhook'], [['POST /webhook', { body: {} }]], 'POST /webhook was answered'],
    ['config set', ['config', 'set', 'timeout', '9s', '--json'], [], 'timeout is set in profile default'],
  ])('%s is said to be done', async (_, args, answers, text) => {
    const { service, user } = await account();
    for (const [route, answer] of answers) service.on(route, answer);
    for (const flags of args.includes('--json') ? [[]] : [[], ['--json'], ['--quiet']]) {
      const { code, stderr } = await runOnFullDisk(user, '1', [...args, ...flags]);
      expect(code, stderr).toBe(1);
      expect(stderr).toContain(text);
      expect(stderr.trim().split('\n').at(-1)).toContain("can't write the output: ");
    }
  });

  it('what sync downloaded is said to be done', async () => {
    const { service, user } = await account();
    service.on('POST /order_url', placed).on('GET /audiofile/1', fileAnswer(1));
    service.on('POST /audiofile/1/transcript.txt', { body: 'A talk.' });
    await user.run(order);
    const { code, stderr } = await runOnFullDisk(user, '1', ['sync', '--download', '.']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/1 transcript saved: .*1\.txt\n/)]);
  });

  it('ends what would print for ever', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/7', (_, response) =>
      response.end(JSON.stringify({ audiofile: { id: 7, statename: `State ${Math.random()}` } })),
    );
    const watch = ['file', '7', '--watch', '--interval', '100ms'];
    expect((await runOnFullDisk(user, '1', watch)).code).toBe(1);
  });
});

const againOf = ([command]: readonly string[]): string[] =>
  /order|upgrade|refund/.test(command ?? '') ? ['--again'] : [];
