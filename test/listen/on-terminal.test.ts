/** What a person sees of `listen` and of `events --follow`: numbers, times, types in colour, what was done, a total. */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { complete, form, Listener, send, Target } from '../support/listener.ts';
import { User } from '../support/steno.ts';
import { Terminal } from '../support/terminal.ts';

const GREEN = '\u001b[32m';
const YELLOW = '\u001b[33m';
const RED = '\u001b[31m';

class Watched {
  readonly terminal: Terminal;
  url = '';

  private constructor(user: User, args: string, columns: number) {
    this.terminal = new Terminal(user, args, { columns });
  }

  static async start(user: User, args: string, columns = 100): Promise<Watched> {
    const watched = new Watched(user, `listen --port 0 ${args}`, columns);
    await watched.terminal.until(() => /listening on (http\S+)\s/.test(watched.terminal.screen));
    watched.url = /listening on (http\S+)\s/.exec(watched.terminal.screen)?.[1] ?? '';
    return watched;
  }

  get lines(): string[] {
    return stripVTControlCharacters(this.terminal.screen).split(/\r?\n/);
  }

  lineWith(text: string): string {
    return this.lines.find((line) => line.includes(text)) ?? '';
  }

  async interrupt(): Promise<number> {
    process.kill(this.terminal.pid, 'SIGINT');
    return (await this.terminal.end()).code;
  }
}

const dayAndTime = /^ {3}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}TRANSCRIPT_COMPLETE {2}71 {2}/;

describe('an event on a terminal', () => {
  it('has its number, date, local time, type in colour, file and order; the total comes at the end', async () => {
    const user = new User({ TZ: 'Asia/Kolkata' });
    const watched = await Watched.start(user, '');
    await send(watched.url, complete('71', 'o9'));
    await send(watched.url, form({ event: 'ORDER_ON_HOLD', order: 'o9', hold: 'PAYMENT' }));
    await send(watched.url, form({ event: 'CC_AUTH_FAILURE', order: 'o9' }));
    await watched.terminal.until('CC_AUTH_FAILURE');
    expect(watched.lineWith('TRANSCRIPT_COMPLETE')).toMatch(dayAndTime);
    expect(watched.lineWith('TRANSCRIPT_COMPLETE')).toContain('order o9');
    expect(watched.lineWith('ORDER_ON_HOLD')).toMatch(/^ {3}2 {2}/);
    const [, hour] = /(\d\d):\d\d:\d\d/.exec(watched.lineWith('TRANSCRIPT_COMPLETE')) ?? [];
    const here = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Kolkata', hour: '2-digit' });
    const anHourAgo = new Date(Date.now() - 3_600_000);
    expect([here.format(new Date()), here.format(anHourAgo)]).toContain(hour);
    expect(watched.terminal.screen).toContain(`${GREEN}TRANSCRIPT_COMPLETE`);
    expect(watched.terminal.screen).toContain(`${YELLOW}ORDER_ON_HOLD`);
    expect(watched.terminal.screen).toContain(`${RED}CC_AUTH_FAILURE`);
    expect(await watched.interrupt()).toBe(130);
    const total = watched.lines.findIndex((line) => /^total: 3 events in \d+ m?s$/.test(line));
    expect(total).toBeGreaterThan(0);
    expect(watched.lines[total + 1]).toBe('      1 TRANSCRIPT_COMPLETE, 1 ORDER_ON_HOLD, 1 CC_AUTH_FAILURE');
  });

  it('is without colour under NO_COLOR, and control characters and hidden ones never reach the screen', async () => {
    const watched = await Watched.start(new User({ NO_COLOR: '1' }), '--verbose');
    await send(
      watched.url,
      form({ event: 'A\u001b[31mB\u202e', audiofile: '7\u0007', note: '\u001b]0;t\u0007' }),
    );
    await watched.terminal.until('note');
    expect(watched.terminal.screen).not.toContain('\u001b[3');
    expect(watched.terminal.screen).not.toMatch(/[\u0007\u202e]/);
    await watched.interrupt();
  });

  it.each([40, 60, 80, 120])('fits %i columns, and its number and type are never cut', async (columns) => {
    const user = new User({ NO_COLOR: '1' });
    const target = await Target.start();
    const watched = await Watched.start(user, `--forward-to ${target.url}/${'long/'.repeat(40)}end`, columns);
    const before = watched.lines.length;
    await send(watched.url, complete(`${'9'.repeat(30)}`, 'o'.repeat(50)));
    await send(
      watched.url,
      form({ event: '漢字'.repeat(40), audiofile: '👩‍👩‍👧'.repeat(30), text: 'x'.repeat(500) }),
    );
    await watched.terminal.until(
      () => watched.lines.filter((line) => /forwarded to/.test(line)).length === 2,
    );
    const shown = watched.lines.slice(before - 1, -1);
    expect(shown.length).toBeGreaterThanOrEqual(4);
    for (const line of shown) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    expect(watched.lineWith('TRANSCRIPT_COMPLETE')).toMatch(/^ {3}1 {2}/);
    expect(watched.lines.some((line) => /\d{4}-\d\d-\d\d/.test(line))).toBe(true);
    await watched.interrupt();
  });
});

describe('what was done about an event', () => {
  it('stands under it, and names it where another one came meanwhile', async () => {
    const target = await Target.start();
    let open = (): void => {};
    target.opens = new Promise((resolve) => {
      open = resolve;
    });
    const user = new User({ NO_COLOR: '1' });
    const watched = await Watched.start(user, `--forward-to ${target.url}`);
    await send(watched.url, complete('1'));
    await send(watched.url, complete('2'));
    await watched.terminal.until(() => watched.lines.some((line) => /^ {3}2 {2}/.test(line)));
    open();
    await watched.terminal.until(
      () => watched.lines.filter((line) => /forwarded to/.test(line)).length === 2,
    );
    const done = watched.lines.filter((line) => /forwarded to/.test(line)).sort();
    expect(done[0]).toBe(`      event 1: forwarded to ${target.url} (HTTP 200)`);
    expect(done[1]).toBe(`      forwarded to ${target.url} (HTTP 200)`);
    await watched.interrupt();
    expect(watched.lines).toContain('      forwarded 2');
  });

  it('says why it failed, and when it is tried again', async () => {
    const target = await Target.start();
    target.status = () => 500;
    const user = new User({ NO_COLOR: '1' });
    const watched = await Watched.start(user, `--forward-to ${target.url} --exec false`);
    await send(watched.url, complete('1'));
    await watched.terminal.until('exec failed:');
    await watched.terminal.until('forward failed:');
    expect(watched.lineWith('exec failed:')).toBe('      exec failed: false: exit 1');
    expect(watched.lineWith('forward failed:')).toMatch(/HTTP 500; next try at \d\d:\d\d:\d\d$/);
    await watched.interrupt();
    expect(watched.lines).toContain('      exec failed 1');
  });

  it('says so of a target that is not there, with the number that found it out', async () => {
    const user = new User({ NO_COLOR: '1' });
    const watched = await Watched.start(user, '--forward-to http://127.0.0.1:9/hook', 140);
    await send(watched.url, complete('1'));
    await watched.terminal.until('forward failed:');
    expect(watched.lineWith('forward failed:')).toMatch(
      /^ {6}forward failed: http:\S+ .*; next try at \d\d:/,
    );
    await watched.interrupt();
  });
});

describe('the total', () => {
  it.each([
    ['--count 1', 0],
    ['--until TRANSCRIPT_COMPLETE', 0],
    ['--timeout 4s', 6],
    ['--only DUPLICATE_FILE --timeout 4s', 6],
  ])('is shown after %s', async (args, code) => {
    const watched = await Watched.start(new User({ NO_COLOR: '1' }), args);
    await send(watched.url, complete('1'));
    expect((await watched.terminal.end()).code).toBe(code);
    const isLeftOut = args.includes('--only');
    expect(watched.lineWith('total:')).toMatch(isLeftOut ? /^total: 0 events in/ : /^total: 1 event in \d/);
    const next = watched.lines[watched.lines.indexOf(watched.lineWith('total:')) + 1];
    expect(next).toBe(
      isLeftOut ? '      1 more kept, which --only leaves out' : '      1 TRANSCRIPT_COMPLETE',
    );
  });

  it('and the lines are only for a person: off a terminal all is as it was', async () => {
    const target = await Target.start();
    const listener = await Listener.start(new User(), ['--count', '1', '--forward-to', target.url]);
    await listener.post(complete('1'));
    const { stdout, stderr } = await listener.ended;
    expect(stdout).toMatch(
      /^1\t\d{4}-\S+Z\tTRANSCRIPT_COMPLETE\t1\to1\t\tthe transcript is ready\t1\treceived\n$/,
    );
    expect(stderr).toMatch(/^event 1: forwarded to http\S+ \(HTTP 200\)$/m);
    expect(stderr).not.toContain('total:');
  });
});

it('events --follow shows the same lines', async () => {
  const user = new User({ NO_COLOR: '1' });
  const listener = await Listener.start(user, ['--count', '1']);
  await listener.post(complete('71', 'o9'));
  await listener.ended;
  const terminal = new Terminal(user, 'events --follow');
  await terminal.until('TRANSCRIPT_COMPLETE');
  const line = terminal.screen.split(/\r?\n/).find((each) => each.includes('TRANSCRIPT_COMPLETE'));
  expect(line).toMatch(dayAndTime);
  process.kill(terminal.pid, 'SIGINT');
  expect((await terminal.end()).code).toBe(130);
});
