/** Whatever the service answers: no crash, no stack trace, a code of the contract, and output that can be relied on. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';
import { type InProcessResult, runInProcess } from '../support/in-process.ts';
import { runs } from '../support/runs.ts';
import { KEY, User } from '../support/steno.ts';
import { type AnswerKind, answerOf, type HostileAnswer, showsKey } from './answers.ts';

let server: Server;
let answer: HostileAnswer;
let user: User;
let orders = 0;
const folder = freshFolder();

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(answer.status, {
        ...(answer.type && { 'content-type': answer.type }),
        location: 'https://elsewhere.example/',
      });
      response.end(answer.body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  user = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: `http://127.0.0.1:${port}/API4`, NO_COLOR: '1' });
});
afterAll(() => server.closeAllConnections());
afterAll(() => server.close());

/** A command, what the service answers to it, and whether its JSON has that answer. */
type Command = readonly [kind: AnswerKind, args: () => string[], hasAnswer?: 'answer'];

const newUrl = (): string => {
  orders += 1;
  return `https://h.example/${orders}.mp3`;
};

const commands: Readonly<Record<string, Command>> = {
  balance: ['balance', () => ['balance'], 'answer'],
  'balance --min': ['balance', () => ['balance', '--min', '0.5'], 'answer'],
  file: ['audiofile', () => ['file', '1001'], 'answer'],
  'file of several': ['audiofile', () => ['file', '1001', '7']],
  invoice: ['invoice', () => ['invoice', '5001'], 'answer'],
  order: ['order', () => ['order', newUrl(), '--sku', 'TRANS14'], 'answer'],
  'order of several': [
    'order',
    () => ['order', newUrl(), newUrl(), '--sku', 'TRANS14', '--fail-on-hold'],
    'answer',
  ],
  'test order': ['order', () => ['order', newUrl(), '--sku', 'TRANS14', '--test'], 'answer'],
  upgrade: ['message', () => ['upgrade', '1001', '--sku', 'TSTMP1'], 'answer'],
  refund: ['message', () => ['refund', '1001', '--yes'], 'answer'],
  'webhook get': ['webhook', () => ['webhook', 'get'], 'answer'],
  'webhook set': ['webhook', () => ['webhook', 'set', 'https://h.example/hook'], 'answer'],
  'webhook test': ['webhook', () => ['webhook', 'test', 'REFUND_ISSUED'], 'answer'],
  track: ['audiofile', () => ['track', '1001']],
  'files --refresh': ['audiofile', () => ['files', '--refresh', '--limit', '5']],
  attempts: ['message', () => ['attempts']],
  report: ['invoice', () => ['report', '--refresh']],
  sync: ['audiofile', () => ['sync', '--download', folder]],
  wait: ['audiofile', () => ['wait', '1001', '--timeout', '1ms']],
  api: ['audiofile', () => ['api', 'GET', '/audiofile/1001']],
  doctor: ['balance', () => ['doctor']],
  transcript: ['transcript', () => ['transcript', '1001', '--force', '-o', folder]],
  'transcript of several': [
    'transcript',
    () => ['transcript', '7', '8', '--format', 'srt,docx', '--force', '-o', folder],
  ],
};

const CODES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

describe.each(Object.entries(commands))('%s', (name, [kind, args, hasAnswer]) => {
  const mode = fc.constantFrom('rows', 'json', 'csv', 'quiet', 'terminal', 'narrow');

  it('says what came of any answer, in every form of output', async () => {
    await fc.assert(
      fc.asyncProperty(answerOf(kind), mode, async (given, form) => {
        answer = given;
        const flags = { json: ['--json'], csv: ['--csv'], quiet: ['--quiet'] }[form as 'json'] ?? [];
        const columns = { terminal: 80, narrow: 24 }[form as 'narrow'];
        const result = await runInProcess([...args(), ...flags, '--no-pager'], { env: user.env, columns });
        expect(CODES).toContain(result.code);
        checkMessages(result, form === 'json');
        // What is no JSON is handed on by api as it came, except to a terminal.
        const isDocument = name === 'api' && columns === undefined;
        expect(showsKey(result.stdout)).toBe(false);
        checkSafe(isDocument ? result.stderr : result.stdout + result.stderr, form === 'csv');
        if (!isDocument) checkForm(form, result, hasAnswer ? given.body : undefined);
      }),
      { numRuns: runs(3) },
    );
  });
});

function checkForm(form: string, result: InProcessResult, raw: Buffer | undefined): void {
  if (form === 'json') checkJson(result, raw);
  if (form === 'csv' && result.stdout) checkCsv(result.stdout);
  if (form === 'rows') checkRows(result.stdout);
}

/** Errors are lines of ours: an error that the program did not expect says so, and is a fault of it. */
function checkMessages({ stderr }: InProcessResult, isJson: boolean): void {
  expect(stderr).not.toContain('more with: --debug');
  expect(stderr).not.toMatch(/^\s+at .*\d+:\d+\)?$/m);
  for (const line of stderr.split('\n').filter(Boolean))
    if (isJson) expect(Object.keys(JSON.parse(line))).toEqual([expect.stringMatching(/^(error|warning)$/)]);
}

function checkSafe(text: string, isCsv: boolean): void {
  const plain = isCsv ? text.replaceAll('\r\n', '\n') : text;
  expect(plain).not.toMatch(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/,
  );
  expect(showsKey(text)).toBe(false);
}

/** The answer to the call is in each document as it came, with each number as it was written. */
function checkJson({ code, stdout }: InProcessResult, body: Buffer | undefined): void {
  if (stdout === '') return;
  const documents = [JSON.parse(stdout)].flat();
  const text = body?.toString().replace(/^\ufeff/, '') ?? '';
  if (code !== 0 || !body || stdout.includes('****')) return;
  // Where a text is an answer too, it comes as one.
  const wanted = isJson(text) ? JSON.parse(text) : text.trim();
  for (const { answer: shown } of documents) expect(shown).toEqual(wanted);
  if (isJson(text) && !hasRepeatedKeys(text))
    expect(`,${numbersIn(stdout)},`).toContain(`,${numbersIn(text)},`.replace(',,', ','));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const numbersIn = (json: string): string[] =>
  json.replace(/"(?:[^"\\]|\\.)*"/gs, '""').match(/-?\d[\d.eE+-]*/g) ?? [];

const hasRepeatedKeys = (text: string): boolean => {
  const keys = [...text.matchAll(/"((?:[^"\\]|\\.)*)"\s*:/gs)].map(([, key]) => key);
  return new Set(keys).size < keys.length;
};

function checkCsv(text: string): void {
  const rows = parse(text, { record_delimiter: '\r\n', relax_column_count: true }) as string[][];
  expect(new Set(rows.map((row) => row.length)).size).toBe(1);
  expect(new Set(rows[0]).size).toBe(rows[0]?.length);
}

/** Each line has as many fields. */
function checkRows(text: string): void {
  const lines = text.split('\n').slice(0, -1);
  expect(new Set(lines.map((line) => line.split('\t').length)).size).toBeLessThanOrEqual(1);
}

describe('the ledger after all of that', () => {
  it.each([
    ['files'],
    ['files', '--json'],
    ['files', '--csv'],
    ['attempts', '--csv'],
    ['attempts', '--json'],
    ['report'],
    ['report', '--json'],
    ['ledger', 'export'],
  ])('is read by %s %s', async (...args) => {
    const { code, stdout, stderr } = await runInProcess(args, { env: user.env });
    expect(code, stderr).toBe(0);
    expect(showsKey(stdout)).toBe(false);
    // An export has all values as they are.
    if (!args.includes('export')) checkSafe(stdout, args.includes('--csv'));
    if (args.includes('--csv')) checkCsv(stdout);
    if (args.includes('--json')) JSON.parse(stdout);
    if (args.length === 1) checkRows(stdout);
  });
});
