/** What a person sees of `listen` and of `events --follow`: a line an event, what is done about it, how things stand. */
import { stripVTControlCharacters } from 'node:util';
import { Terminal as Emulator } from '@xterm/headless';
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

/** What the screen shows once all of that was drawn on it. */
async function drawn(screen: string, columns = 100): Promise<string[]> {
  const emulator = new Emulator({ cols: columns, rows: 200, allowProposedApi: true });
  await new Promise<void>((resolve) => emulator.write(screen, resolve));
  const rows = Array.from(
    { length: 200 },
    (_, at) => emulator.buffer.active.getLine(at)?.translateToString(true) ?? '',
  );
  return rows.slice(0, rows.findLastIndex(Boolean) + 1);
}

const line = (n: number, mark: string, rest: string): RegExp =>
  new RegExp(`^ {3}${n} \\d\\d:\\d\\d:\\d\\d ${mark} ${rest}$`);

describe('an event on a terminal', () => {
  it('has its number, local time, type in colour, and file or order; what they were in all is the last line', async () => {
    const user = new User({ TZ: 'Asia/Kolkata' });
    const watched = await Watched.start(user, '');
    await send(watched.url, complete('71', 'o9'));
    await send(watched.url, form({ event: 'ORDER_ON_HOLD', order: 'o9', hold: 'PAYMENT' }));
    await send(watched.url, form({ event: 'CC_AUTH_FAILURE', order: 'o9' }));
    await watched.terminal.until('CC_AUTH_FAILURE');
    const [, hour] = / 1 (\d\d):\d\d:\d\d/.exec((await drawn(watched.terminal.screen)).join('\n')) ?? [];
    const here = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Kolkata', hour: '2-digit' });
    const anHourAgo = new Date(Date.now() - 3_600_000);
    expect([here.format(new Date()), here.format(anHourAgo)]).toContain(hour);
    expect(watched.terminal.screen).toContain(`${GREEN}TRANSCRIPT_COMPLETE`);
    expect(watched.terminal.screen).toContain(`${YELLOW}ORDER_ON_HOLD`);
    expect(watched.terminal.screen).toContain(`${RED}CC_AUTH_FAILURE`);
    await watched.terminal.until('3 events');
    expect((await drawn(watched.terminal.screen)).at(-1)).toBe(
      `listening on ${new URL(watched.url).host} · 3 events · Ctrl-C to stop`,
    );
    expect(await watched.interrupt()).toBe(130);
    const rows = (await drawn(watched.terminal.screen)).slice(1, -3);
    expect(rows).toEqual([
      `listening on ${watched.url}`,
      'saves events',
      expect.stringMatching(line(1, '✓', 'TRANSCRIPT_COMPLETE 71 the transcript is ready')),
      expect.stringMatching(line(2, '!', 'ORDER_ON_HOLD order o9 held .*')),
      expect.stringMatching(line(3, '✗', 'CC_AUTH_FAILURE order o9 the card was refused.*')),
      expect.stringMatching(/^steno: stopped after 3 events in \d+ m?s$/),
    ]);
    expect(watched.terminal.screen).not.toContain(`${RED}steno:`);
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
    await send(watched.url, complete(`${'9'.repeat(30)}`, 'o'.repeat(50)));
    await send(
      watched.url,
      form({ event: '漢字'.repeat(40), audiofile: '👩‍👩‍👧'.repeat(30), text: 'x'.repeat(500) }),
    );
    await watched.terminal.until(() => watched.terminal.screen.split('→').length === 3);
    // A line that is too long would go on there.
    for (const row of await drawn(watched.terminal.screen, 3 * columns))
      expect(stringWidth(row), row).toBeLessThanOrEqual(columns);
    const rows = await drawn(watched.terminal.screen, columns);
    expect(rows.filter((row) => /^ {3}1 .*TRANSCRIPT_COMPLETE/.test(row))).toHaveLength(1);
    await watched.interrupt();
  });

  it('has a line that says what is done about it, in place, and then stays', async () => {
    const target = await Target.start();
    let open = (): void => {};
    target.opens = new Promise((resolve) => {
      open = resolve;
    });
    const user = new User({ NO_COLOR: '1' });
    const watched = await Watched.start(user, `--forward-to ${target.url}`);
    const sent = Array.from({ length: 10 }, (_, at) => complete(String(at + 1)));
    for (const body of sent) await send(watched.url, body);
    await watched.terminal.until('10 events · 10 actions running');
    const under = (await drawn(watched.terminal.screen)).slice(3);
    expect(under).toEqual([
      ...sent.map((_, at) =>
        expect.stringMatching(`^ {2,3}${at + 1} \\S+ … TRANSCRIPT_COMPLETE ${at + 1} forwarding$`),
      ),
      expect.stringContaining('10 actions running'),
    ]);
    open();
    await watched.terminal.until('10 events · Ctrl-C');
    const rows = (await drawn(watched.terminal.screen)).slice(3, -1);
    expect(rows.sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10))).toEqual(
      sent.map((_, at) =>
        expect.stringMatching(
          `^ {2,3}${at + 1} \\S+ ✓ TRANSCRIPT_COMPLETE ${at + 1} → ${target.url} \\(HTTP 200\\)$`,
        ),
      ),
    );
    await watched.interrupt();
    expect((await drawn(watched.terminal.screen)).join('\n')).toMatch(
      /^steno: stopped after 10 events in \d+ m?s: 10 forwarded$/m,
    );
  });

  it('says why an action failed, and when it is tried again', async () => {
    const target = await Target.start();
    target.status = () => 500;
    const user = new User({ NO_COLOR: '1' });
    const watched = await Watched.start(user, `--forward-to ${target.url} --exec false`, 140);
    await send(watched.url, complete('1'));
    await watched.terminal.until(() =>
      watched.lines.some((row) => /exec failed.*next try|next try.*exec failed/.test(row)),
    );
    const [row = ''] = (await drawn(watched.terminal.screen, 140)).filter((each) => each.includes('✗'));
    expect(row).toMatch(
      /✗ TRANSCRIPT_COMPLETE 1 forward failed: HTTP 500; next try at \d\d:\d\d:\d\d, exec failed: exit 1$/,
    );
    await watched.interrupt();
    const rows = (await drawn(watched.terminal.screen, 140)).join('\n');
    expect(rows).toMatch(/stopped after 1 event in \d+ m?s: 1 command failed$/m);
    // What is not done stays on the screen.
    expect(rows).toContain(row);
  });

  it('names a target that is not there, and the event that found it out', async () => {
    const user = new User({ NO_COLOR: '1' });
    const watched = await Watched.start(user, '--forward-to http://127.0.0.1:9/hook', 160);
    await send(watched.url, complete('1'));
    await watched.terminal.until('pending events are saved');
    expect(watched.lineWith('pending')).toMatch(
      /event 1: forward http:\S+ does not work: .*; pending events are saved; next try at \d\d:/,
    );
    await watched.interrupt();
  });

  it('does not move where the terminal is dumb: its line is printed when it is final', async () => {
    const target = await Target.start();
    const user = new User({ NO_COLOR: '1', TERM: 'dumb' });
    const watched = await Watched.start(user, `--forward-to ${target.url}`);
    await send(watched.url, complete('1'));
    await watched.terminal.until('→');
    expect(watched.lines.filter((row) => row.includes('TRANSCRIPT_COMPLETE'))).toHaveLength(1);
    await watched.interrupt();
    expect(watched.terminal.screen).not.toMatch(/\u001b|· Ctrl-C/);
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
    const total = args.includes('--only')
      ? /^0 events in \d+ m?s: 1 more saved, excluded by --only$/m
      : /^1 event in \d+ m?s$/m;
    expect((await drawn(watched.terminal.screen)).join('\n')).toMatch(total);
  });

  it('and the lines are only for a person: off a terminal there are rows', async () => {
    const target = await Target.start();
    const listener = await Listener.start(new User(), ['--count', '1', '--forward-to', target.url]);
    await listener.post(complete('1'));
    const { stdout, stderr } = await listener.ended;
    expect(stdout).toMatch(/^1\t\d{4}-\S+Z\tTRANSCRIPT_COMPLETE\t1\to1\t\tthe transcript is ready\n$/);
    expect(stderr).toMatch(/^event 1: forwarded to http\S+ \(HTTP 200\)$/m);
    expect(stderr).not.toMatch(/1 event in/);
  });
});

it('events --follow shows the same lines', async () => {
  const user = new User({ NO_COLOR: '1' });
  const listener = await Listener.start(user, ['--count', '1']);
  await listener.post(complete('71', 'o9'));
  await listener.ended;
  const terminal = new Terminal(user, 'events --follow');
  await terminal.until('TRANSCRIPT_COMPLETE');
  const shown = terminal.screen.split(/\r?\n/).find((each) => each.includes('TRANSCRIPT_COMPLETE'));
  expect(shown).toMatch(line(1, '✓', 'TRANSCRIPT_COMPLETE 71 the transcript is ready'));
  process.kill(terminal.pid, 'SIGINT');
  expect((await terminal.end()).code).toBe(130);
});
