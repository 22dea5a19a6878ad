/**
 * What may differ from one Node to the next: how the program starts and ends, SQLite and PostgreSQL, HTTP and TLS,
 * streams, signals, child processes, files. The same cases run on each; what a command decides, the other tests hold.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { formats } from '../../src/catalog/formats.ts';
import { SANDBOX_KEY } from '../../src/sandbox/server.ts';
import { jsonError } from '../support/account.ts';
import { type Certificate, makeCertificate } from '../support/certificate.ts';
import { modeOf } from '../support/files.ts';
import { complete, eventsOf, FORM, form, Listener, Target } from '../support/listener.ts';
import { freePort } from '../support/postgres.ts';
import { hasPostgres } from '../support/postgres-programs.ts';
import { expectNotInState } from '../support/secrets.ts';
import { Service } from '../support/server.ts';
import { finished, KEY } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { deadAddress } from '../support/wire.ts';
import { NodeUnderTest, type NodeUser } from './node-user.ts';
import type { NodeVersion } from './node-versions.ts';

const audio = (name: string): string => `https://example.com/${name}.mp3`;
const order = (name: string): string => `order ${audio(name)} --sku TRANS14`;

let schemas = 0;

/** The URL of a new ledger in PostgreSQL. */
export function newSharedLedger(): string {
  schemas += 1;
  return `${inject('postgres')}?schema=nodes_${process.pid}_${schemas}`;
}

export function smokeCases(version: NodeVersion): void {
  describe(`on Node ${version}`, () => {
    const node = new NodeUnderTest(version);
    describe('look-ups and settings', () => lookUps(node));
    describe('orders', () => orders(node));
    describe('downloads', () => downloads(node));
    describe('events', () => events(node));
    describe('the ledger', () => ledger(node));
    describe('output', () => output(node));
    describe('processes', () => processes(node));
    describe('TLS', () => tls(node));
  });
}

/** A user of a service that answers as a case says. */
async function withService(node: NodeUnderTest): Promise<{ service: Service; user: NodeUser }> {
  const service = await Service.start();
  return { service, user: node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl }) };
}

function lookUps(node: NodeUnderTest): void {
  it('runs, and tells its version', async () => {
    expect((await node.user.ok('doctor')).stdout).toMatch(/^key\tok\t/m);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect((await node.user.ok('--version')).stdout).toBe(`${version}\n`);
  });

  it('shows help and the catalogue, and completes words', async () => {
    expect((await node.user.ok('order --help')).stdout).toContain('--skip-ordered');
    expect((await node.user.ok('help exit-codes')).stdout).toContain('uncertain');
    expect((await node.newcomer().ok('skus')).stdout).toContain('TRANS14\torder\ttranscription\t');
    execFileSync('bash', ['-n'], { input: (await node.user.ok('completion bash')).stdout });
    const id = await node.order('completed');
    const { stdout, stderr } = await node.user.ok(`__complete audiofile ${id.slice(0, 3)}`);
    expect([stdout, stderr]).toEqual([expect.stringContaining(`${id}\t`), '']);
  });

  it('keeps the key of login where only its user can read it, until logout', async () => {
    const user = node.newcomer({ STENO_BASE_URL: node.baseUrl });
    await user.exits(3, 'balance');
    await user.ok('login', { stdin: `${SANDBOX_KEY}\n` });
    const path = (await user.ok('config path')).stdout.trim();
    expect([modeOf(path), modeOf(dirname(path))]).toEqual(['600', '700']);
    expect((await user.ok('balance --quiet')).stdout).toMatch(/^\d+\.\d\d\n$/);
    await user.ok('logout');
    expect(readFileSync(path, 'utf8')).not.toContain(SANDBOX_KEY);
  });

  it('takes the key from a command, and keeps settings', async () => {
    const user = node.newcomer({ STENO_BASE_URL: node.baseUrl });
    await user.run(['login', '--api-key-command', `printf %s ${SANDBOX_KEY}`]);
    await user.ok('config set timeout 45s');
    expect((await user.ok('config get timeout')).stdout).toBe('45s\n');
    expect((await user.ok('balance --quiet')).stdout).toMatch(/^\d+\.\d\d\n$/);
  });
}

function orders(node: NodeUnderTest): void {
  it('are placed, and stop with exit 9 at the same audio', async () => {
    const { stdout } = await node.user.ok(order('placed'));
    expect(stdout).toMatch(/^\d+\t\w+\tordered\thttps:\/\/example\.com\/placed\.mp3\t\n$/);
    const { stderr } = await node.user.exits(9, order('placed'));
    expect(stderr).toMatch(
      /^steno: https:\/\/example\.com\/placed\.mp3 was ordered as order \w+ (?:just now|\d+\w ago)/,
    );
  });

  it('are read from a CSV on stdin, from JSON lines in a file, and from a feed', async () => {
    const user = node.newUser();
    const stdin = `url,sku,notes\n${audio('m1')},TRANS14,"two, words"\n${audio('m2')},TRANS2,\n`;
    expect(await user.json('order --from -', { stdin })).toHaveLength(2);
    expect(await user.json('files')).toContainEqual(expect.objectContaining({ notes: 'two, words' }));
    const rows = ['j1', 'unfetchable', 'j2'].map((name) => JSON.stringify({ url: audio(name) }));
    writeFileSync(join(user.home, 'list.jsonl'), rows.join('\n'));
    const { stderr } = await user.exits(10, 'order --from list.jsonl --sku TRANS14 --per-order 1');
    expect(stderr).toContain('unfetchable');
    const item = `<item><title>Part</title><guid>g</guid><enclosure url="${audio('part')}" type="audio/mpeg"/></item>`;
    const feed = `<rss version="2.0"><channel><title>Talks</title>${item}</channel></rss>`;
    writeFileSync(join(user.home, 'feed.xml'), feed);
    expect(await user.json('order --feed feed.xml --latest 1 --sku TRANS14')).toHaveLength(1);
    expect(await user.json('files')).toHaveLength(5);
  });

  it('are waited for, shown, listed, invoiced and reported', async () => {
    const user = node.newUser();
    const id = await node.delivered('waited', user);
    expect(await user.json(`file ${id}`)).toMatchObject({ audiofile: id, state: 'Delivered' });
    const [known] = await user.json<Array<{ ended: string; invoices: string[] }>>('files');
    expect(known?.ended).toBe('delivered');
    expect((await user.ok(`invoice ${known?.invoices[0]} --quiet`)).stdout).toMatch(/^\d+\.\d\d\n$/);
    await user.ok('report --html report.html');
    const page = readFileSync(join(user.home, 'report.html'), 'utf8');
    expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\s*$/i);
  });

  it('are upgraded and refunded in the sandbox of the same process', async () => {
    const user = node.newcomer({ STENO_PROFILE: 'sandbox' });
    const id = await node.order('slow-refund', user);
    await user.ok(`upgrade ${id} --sku TSTMP1`);
    await user.ok(`refund ${id} --yes`);
    expect((await user.ok(`file ${id} --quiet`)).stdout).toBe('Refunded\n');
    await user.ok('sandbox reset');
    expect((await user.ok('files')).stdout).toBe('');
  });

  it('exit 11 after an answer that breaks off, and 9 at the next try', async () => {
    const { service, user } = await withService(node);
    service.on('POST /order_url', (_got, _response, socket) => void socket.destroy());
    await user.exits(11, order('unclear'));
    expect((await user.exits(9, order('unclear'))).stderr).toContain('steno attempts');
    expect(service.calls('POST /order_url')).toHaveLength(1);
    await user.ok('attempts settle 1 --not-placed');
    expect(await user.json('attempts')).toEqual([]);
  });

  it('are sent once where the service answers 503, but reads are repeated', async () => {
    const { service, user } = await withService(node);
    service.on('POST /order_url', { status: 503, headers: { 'retry-after': '1' } });
    service.on('GET /prepay_balance', { status: 503 }, { body: { balance: '1.00' } });
    await user.exits(1, order('busy'));
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect((await user.ok('balance')).stdout).toBe('1.00\n');
  });

  it('exit 7 where nothing answers; a call exits 6 where the answer takes too long', async () => {
    const away = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: await deadAddress() });
    const { stderr } = await away.exits(7, `${order('away')} --json`);
    expect(jsonError(stderr)).toMatchObject({ code: 'network' });
    const { service, user } = await withService(node);
    service.on('GET /prepay_balance', () => {});
    await user.exits(6, 'balance --timeout 300ms');
  });

  it('keep every digit of long ids and amounts', async () => {
    const { service, user } = await withService(node);
    const [id, long] = ['90071992547409931234', '18446744073709551617'];
    service.on('POST /order_url', { body: `{"order":${long},"audiofiles":[${id}],"message":"ok"}` });
    service.on('GET /prepay_balance', { body: '{"balance":12345678901234567890.10}' });
    expect((await user.ok(`${order('long')} --quiet`)).stdout).toBe(`${id}\n`);
    expect((await user.ok('files')).stdout).toMatch(new RegExp(`^${id}\t.*\t${long}\t`));
    expect((await user.ok('balance --json')).stdout).toContain('12345678901234567890.10');
  });
}

function downloads(node: NodeUnderTest): void {
  it('fetch all formats into a folder, and one to stdout', async () => {
    const id = await node.delivered('downloaded');
    const exts = formats.map(({ ext }) => ext);
    await node.user.ok(`transcript ${id} --format ${exts.join(',')} -o all/`);
    const all = join(node.user.home, 'all');
    expect(readdirSync(all).sort()).toEqual(exts.map((ext) => `${id}.${ext}`).sort());
    const docx = readFileSync(join(all, `${id}.docx`));
    expect(docx.subarray(0, 2).toString()).toBe('PK');
    const { stdout } = await node.user.ok(`transcript ${id} -o -`);
    expect(stdout).toBe(readFileSync(join(all, `${id}.txt`), 'utf8'));
  });

  it('of sync are what is new, once', async () => {
    const user = node.newUser();
    const ids = [await node.delivered('sync-a', user), await node.delivered('sync-b', user)];
    const first = (await user.ok('sync --download texts --quiet')).stdout.trim().split('\n');
    expect(first.sort()).toEqual(ids.map((each) => `texts/${each}.txt`).sort());
    expect((await user.ok('sync --download texts --quiet')).stdout).toBe('');
  });

  it('are many at once', async () => {
    const { service, user } = await withService(node);
    const ids = Array.from({ length: 300 }, (_, at) => String(at + 1));
    service.allow('*', (got, response) => void response.end(`text of ${got.path}\n`));
    await user.ok('transcript --from - --jobs 16 -o many/', { stdin: ids.join('\n') });
    expect(readdirSync(join(user.home, 'many'))).toHaveLength(300);
    expect(service.maxConnections).toBeLessThanOrEqual(16);
  });

  it('leave nothing half-written behind when they are interrupted', async () => {
    const { service, user } = await withService(node);
    const half = 'the first half of a transcript '.repeat(10_000);
    service.on('*', (_got, response) => void response.write(half));
    const child = user.start(['transcript', '5', '-o', 'half/5.txt']);
    await until(() => service.got.length > 0, 'a request');
    await until(() => existsSync(join(user.home, 'half')), 'a folder');
    child.kill('SIGINT');
    expect(await new Promise((done) => child.on('close', done))).toBe(130);
    expect(readdirSync(join(user.home, 'half'))).toEqual([]);
  });
}

function events(node: NodeUnderTest): void {
  it('are kept before they are answered, shown, listed and replayed', async () => {
    const user = node.newUser();
    const listener = await Listener.start(user);
    expect((await listener.post(complete('1001', '4nX'))).status).toBe(200);
    expect((await listener.post('{}', { type: 'application/json' })).status).toBe(415);
    await listener.until(() => listener.lines.length === 1);
    expect((await listener.stop()).code).toBe(130);
    expect(await eventsOf(user)).toMatchObject([{ n: 1, event: 'TRANSCRIPT_COMPLETE', audiofile: '1001' }]);
    const target = await Target.start();
    await user.ok(`events replay 1 --to ${target.url}`);
    expect(target.got[0]?.body.toString()).toBe(complete('1001', '4nX'));
  });

  it('that were answered survive kill -9', async () => {
    const user = node.newUser();
    const listener = await Listener.start(user);
    expect((await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: '77' }))).status).toBe(200);
    await listener.stop('SIGKILL');
    expect(await eventsOf(user, '--event', 'DIFFICULT_AUDIO')).toMatchObject([{ audiofile: '77' }]);
  });

  it('run a command each, and are forwarded as they came', async () => {
    const [user, target] = [node.newUser(), await Target.start()];
    const exec = 'printf %s "$STENO_EVENT_AUDIOFILE" > "ran"';
    const listener = await Listener.start(user, ['--exec', exec, '--forward-to', target.url]);
    const body = `${complete('2002')}&text=%C3%BC+%zz`;
    await listener.post(body);
    await listener.until(() => target.got.length === 1 && existsSync(join(user.home, 'ran')));
    expect(target.got[0]?.body.toString()).toBe(body);
    await until(() => readFileSync(join(user.home, 'ran'), 'utf8') === '2002', 'the id of the event');
    await listener.stop();
  });

  it('come to a listener that registers itself, downloads, and puts the webhook back', async () => {
    const user = node.newUser();
    const previous = 'http://127.0.0.1:9/previous';
    await user.ok(`webhook set ${previous}`);
    const port = String(await freePort());
    const register = ['--register', '--public-url', `http://127.0.0.1:${port}/`];
    const listener = await Listener.start(user, ['--port', port, ...register, '--download', 'got']);
    const id = await node.order('by-event', user);
    await listener.until(() => existsSync(join(user.home, 'got', `${id}.txt`)));
    await listener.stop();
    expect((await user.ok('webhook get')).stdout).toBe(`${previous}\n`);
  });

  it('end a listener with --until and --count, and its time with exit 6', async () => {
    const user = node.newUser();
    const first = await Listener.start(user, ['--until', 'REFUND_ISSUED']);
    await first.post(form({ event: 'REFUND_ISSUED', audiofile: '5' }));
    expect((await first.ended).code).toBe(0);
    const second = await Listener.start(user, ['--count', '1']);
    await second.post(complete('6'));
    expect((await second.ended).code).toBe(0);
    await user.exits(6, 'listen --port 0 --timeout 100ms');
  });

  it('are followed while another process receives them', async () => {
    const user = node.newUser();
    const following = user.start(['events', '--follow', '--quiet', '--event', 'CC_AUTH_FAILURE']);
    const ended = finished(following);
    let seen = '';
    following.stdout.on('data', (chunk) => {
      seen += chunk;
    });
    const listener = await Listener.start(user);
    await until(async () => {
      await listener.post(form({ event: 'CC_AUTH_FAILURE', order: 'a1' }));
      return /^\d+\n/.test(seen);
    }, 'the number of an event');
    following.kill('SIGINT');
    expect((await ended).code).toBe(130);
    await listener.stop();
  });
}

function ledger(node: NodeUnderTest): void {
  it('is closed to others, whole, and holds no key', async () => {
    const user = node.newUser();
    await node.order('private', user);
    const state = join(user.home, 'state');
    const open = readdirSync(state).filter(
      (name) => /^ledger/.test(name) && modeOf(join(state, name)) !== '600',
    );
    expect([modeOf(state), open]).toEqual(['700', []]);
    expectNotInState(user, SANDBOX_KEY);
    expect((await user.ok('ledger status')).stdout).toMatch(/^rows\.files\t1$/m);
    expect((await user.ok('doctor')).stdout).toMatch(/^ledger\tok\t/m);
  });

  it('moves to another machine by export and import', async () => {
    const [from, to] = [node.newUser(), node.newUser()];
    const id = await node.delivered('moved', from);
    await from.ok('ledger export -o dump.jsonl');
    const text = readFileSync(join(from.home, 'dump.jsonl'), 'utf8');
    await to.ok('ledger import -', { stdin: text });
    expect(await to.json('files')).toMatchObject([{ audiofile: id, state: 'Delivered' }]);
    await to.exits(9, order('moved'));
    expect((await to.ok('ledger export')).stdout.split('\n')).toHaveLength(text.split('\n').length);
  });

  const withPostgres = it.skipIf(!hasPostgres && !process.env.CI);

  withPostgres('may be shared: takes a local one over, orders, keeps events, gives it back', async () => {
    const STENO_LEDGER = newSharedLedger();
    const local = node.newUser();
    const id = await node.order('copied', local);
    await local.ok(`ledger copy --to ${STENO_LEDGER}`);
    const [one, other] = [node.newUser({ STENO_LEDGER }), node.newUser({ STENO_LEDGER })];
    await other.exits(9, order('copied'));
    await node.order('shared', one);
    await other.exits(9, order('shared'));
    const listener = await Listener.start(one);
    expect((await listener.post(complete('1001'))).status).toBe(200);
    await listener.until(() => listener.lines.length === 1);
    await listener.stop();
    expect(await eventsOf(other)).toMatchObject([{ event: 'TRANSCRIPT_COMPLETE', audiofile: '1001' }]);
    await one.ok('ledger copy --to local');
    const back = node.newUser({ STENO_STATE_DIR: one.env.STENO_STATE_DIR });
    expect(await back.json('files')).toContainEqual(expect.objectContaining({ audiofile: id }));
  });

  withPostgres('exits 7 before it orders where the shared one can not be reached', async () => {
    const user = node.newUser({ STENO_LEDGER: 'postgres://steno@127.0.0.1:9/steno' });
    expect((await user.exits(7, order('away'))).stderr).toContain('127.0.0.1:9');
  });
}

function output(node: NodeUnderTest): void {
  /** Runs a line of the shell, with the program in PATH. */
  function shell(line: string): ReturnType<typeof finished> {
    const { env, home, program } = node.user;
    const child = spawn('bash', ['-c', line.replaceAll('steno', program[0])], { cwd: home, env });
    child.stdin.end();
    return finished(child);
  }

  it('can be read by jq, and ends without a word when its reader has enough', async () => {
    const id = await node.order('for-jq');
    const read = await shell('steno files --json | jq -r ".[].audiofile"');
    expect([read.code, read.stdout.split('\n')]).toEqual([0, expect.arrayContaining([id])]);
    const { stdout, stderr, code } = await shell('set -o pipefail; steno help topics | head -1');
    expect([stdout.split('\n').length, stderr, code]).toEqual([2, '', 0]);
  });

  it('that can not be written is exit 1', async () => {
    const { stderr, code } = await shell('steno balance > /dev/full');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^steno: /)]);
  });

  it('has colour and aligned columns on a terminal, and none elsewhere', async () => {
    await node.order('coloured');
    const line = 'steno files --no-pager';
    const on = await node.user.onTerminal(line);
    expect(on.stdout).toContain('\u001b[');
    expect(on.stdout).not.toMatch(/Warning/);
    expect((await shell(line)).stdout).not.toContain('\u001b[');
  });

  it('shows requests without the key, and where an error came from, with --debug', async () => {
    const { stderr } = await node.user.exits(4, 'file 999999 --debug');
    expect(stderr).toMatch(/\/src\/api\/files\.ts:\d+/);
    expect(stderr).toContain('GET ');
  });

  it('keeps text of all scripts as it is', async () => {
    const user = node.newUser();
    const notes = 'Grüße, 日本 👩‍👩‍👧';
    const line = ['order', 'https://example.com/größe-日本.mp3', '--sku', 'TRANS14', '--notes', notes];
    expect((await user.run(line)).code).toBe(0);
    expect(await user.json('files')).toMatchObject([{ notes }]);
  });
}

function processes(node: NodeUnderTest): void {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('end at %s with exit %i', async (signal, code) => {
    const { service, user } = await withService(node);
    service.on('GET /audiofile/5', { body: { audiofile: { id: 5, statename: 'Transcribing' } } });
    const child = user.start(['wait', '5', '--interval', '50ms']);
    const ended = finished(child);
    await until(() => service.got.length > 1, 'two requests');
    child.kill(signal);
    const result = await ended;
    expect(result.code).toBe(code);
    expect(result.stderr).not.toMatch(/^\s+at /m);
  });

  it('hide a key on the command line from the list of processes', async () => {
    const service = await Service.start();
    service.on('GET /prepay_balance', () => {});
    const user = node.newcomer({ STENO_BASE_URL: service.baseUrl });
    const child = user.start(['balance', '--api-key', KEY]);
    const ended = finished(child);
    await until(() => service.got.length > 0, 'a request');
    expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain(KEY);
    child.kill('SIGINT');
    await ended;
  });

  it('order each audio once, four at a time', async () => {
    const user = node.newUser();
    const stdin = Array.from({ length: 6 }, (_, at) => audio(`at-once-${at}`)).join('\n');
    const line = 'order --from - --sku TRANS14 --skip-ordered --per-order 1 --quiet';
    const runs = await Promise.all(Array.from({ length: 4 }, () => user.ok(line, { stdin })));
    expect(runs.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean))).toHaveLength(6);
    expect(await user.json('files')).toHaveLength(6);
  });

  it('serve the sandbox, which fails as it is told to', async () => {
    const child = node.newcomer().start(['sandbox', '--port', '0', '--ephemeral', '--fault', '503=1']);
    const ended = finished(child);
    const address = await new Promise<string>((done) =>
      child.stdout.once('data', (chunk) => done(String(chunk).split('\t')[0] ?? '')),
    );
    await node.newUser({ STENO_BASE_URL: address }).exits(1, 'balance');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
  });

  it('leave no process behind', async () => {
    const user = node.newUser();
    await user.ok(order('alone'));
    const isOurs = (pid: string): boolean => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(user.home);
      } catch {
        return false;
      }
    };
    await until(() => !readdirSync('/proc').some((name) => /^\d+$/.test(name) && isOurs(name)), 'an end');
  });
}

function tls(node: NodeUnderTest): void {
  let certificate: Certificate;

  beforeAll(() => {
    certificate = makeCertificate();
  });

  const read = () => ({ key: readFileSync(certificate.key), cert: readFileSync(certificate.cert) });

  it('is spoken with a service whose certificate is known, and with no other', async () => {
    const server = createServer(read(), (_, response) => void response.end('{"balance":"3.50"}'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const STENO_BASE_URL = `https://localhost:${(server.address() as AddressInfo).port}/API4`;
    const NODE_EXTRA_CA_CERTS = certificate.cert;
    const user = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL, NODE_EXTRA_CA_CERTS });
    expect((await user.ok('balance')).stdout).toBe('3.50\n');
    const other = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL });
    expect((await other.exits(7, 'balance')).stderr).toMatch(/certificate/);
  });

  it('is spoken by a listener', async () => {
    const user = node.newcomer();
    const files = ['--tls-cert', certificate.cert, '--tls-key', certificate.key];
    const listener = await Listener.start(user, files);
    expect(listener.url).toMatch(/^https:/);
    const status = await new Promise((done, failed) => {
      const options = { method: 'POST', headers: { 'content-type': FORM }, ca: read().cert };
      request(listener.url, options, (response) => {
        response.resume();
        done(response.statusCode);
      })
        .on('error', failed)
        .end(complete('8008'));
    });
    expect(status).toBe(200);
    await listener.stop();
    expect(await eventsOf(user)).toMatchObject([{ audiofile: '8008' }]);
  });
}
