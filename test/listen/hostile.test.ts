/** Untrusted texts that a careless search would take very long for: no other delivery may wait for them. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { complete, Listener } from '../support/listener.ts';
import { finished, type Result, type User } from '../support/steno.ts';

const MEGABYTE = 1_000_000;

/** A slow machine needs a second or two; a search that goes back needs half an hour for the backslashes. */
const PATIENCE = 10_000;

const bodies: Readonly<Record<string, string>> = {
  backslashes: `event=X&a=${'\\'.repeat(MEGABYTE)}`,
  'percent signs, escaped again and again': `event=X&a=%${'25'.repeat(MEGABYTE / 2)}`,
  'ampersands, escaped again and again': `event=X&a=%26${'amp;'.repeat(MEGABYTE / 4)}`,
  'a number of zeros': `event=X&a=${'%26%23000'.repeat(MEGABYTE / 9)}`,
  'fields without a value': `event=X&${'a&'.repeat(MEGABYTE / 2)}`,
};

describe('an event of 200,000 fields', () => {
  it('is kept to the byte, and lists a thousand of them', async () => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--json', '--exec', 'cat > /dev/null']);
    const body = `event=X&${Array.from({ length: 200_000 }, (_, n) => n.toString(36)).join('&')}`;
    expect((await listener.post(body)).status).toBe(200);
    await listener.until(() => listener.lines.length === 1);
    await listener.stop();
    const [shown] = listener.json as Array<{ fields: object; fields_left_out: number }>;
    expect(Object.keys(shown?.fields ?? {})).toHaveLength(1_000);
    expect(shown?.fields_left_out).toBe(199_001);
    const page = await user.run(['events', 'show', '1']);
    expect(page.stdout).toMatch(/^fields_left_out\t199001$/m);
    expect((await user.run(['events', 'show', '1', '--quiet'])).stdout).toBe(`${body}\n`);
  });
});

/** What an event of any shape may cost, in times of what Node takes to parse one of them: machines differ, and so do hours. */
const MAX_COST = 20;

/** In milliseconds of processor time. */
function parseCost(body: string): number {
  const costs = Array.from({ length: 6 }, () => {
    const before = process.cpuUsage();
    for (let n = 0; n < 4; n += 1) expect(new URLSearchParams(body).size).toBeGreaterThan(1);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 4_000;
  });
  return Math.min(...costs);
}

describe.runIf(process.platform === 'linux')('the processor time of an event', () => {
  /** In units of 10 ms. */
  const ticksOf = (pid: number | undefined): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };

  it('is small, whatever a megabyte of it is made of', async () => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--quiet']);
    const costOf = async (body: string): Promise<number> => {
      const before = ticksOf(listener.child.pid);
      for (let n = 0; n < 4; n += 1) expect((await listener.post(body)).status).toBe(200);
      return (ticksOf(listener.child.pid) - before) * 2.5;
    };
    // The first ones are not compiled yet.
    await costOf('x'.repeat(MEGABYTE));
    const dear: Record<string, number> = {};
    const limit = MAX_COST * parseCost(bodyOf(units['encoded signed links'] ?? ''));
    for (const [shape, unit] of Object.entries(units)) {
      const body = bodyOf(unit);
      const cost = Math.min(await costOf(body), await costOf(body));
      if (cost > limit) dear[shape] = cost;
    }
    expect(dear).toEqual({});
  });
});

const bodyOf = (unit: string): string => `event=X&${unit.repeat(MEGABYTE / unit.length)}`;

const units: Readonly<Record<string, string>> = {
  'question marks': '?&',
  'at signs': '@&',
  links: 'http://a?b&',
  'encoded links': 'a=http%3a//a%3fb&',
  'signed links': 'https://h/?sig=1&sv=1&sr=1&se=1&',
  'encoded signed links': `${encodeURIComponent('https://h/?sig=1&sv=1&sr=1&se=1')}&`,
  'escaped quotes': '\\"',
  'escaped letters': '%255C',
};

/** Runs a command, and ends it where it takes too long: then its code is null. */
function runBounded(user: User, args: readonly string[]): Promise<Result> {
  const child = user.start(args);
  child.stdin.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  return finished(child).finally(() => clearTimeout(timer));
}

describe('a megabyte of untrusted text', () => {
  it.each(Object.entries(bodies))('of %s holds up neither listen nor events', async (_, body) => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--json']);
    expect((await listener.post(body)).status).toBe(200);
    // It is shown a moment after it is kept: a delivery that comes then must not wait.
    await listener.until(() => listener.stdout.includes('\n'), PATIENCE);
    expect((await listener.post(complete('1'))).status).toBe(200);
    await listener.until(() => listener.lines.length === 2, PATIENCE);
    await listener.stop();
    const { code, stdout } = await runBounded(user, ['events', '--json']);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Array<{ event: string }>).map(({ event }) => event)).toEqual([
      'TRANSCRIPT_COMPLETE',
      'X',
    ]);
  });
});

describe('events', () => {
  it('ends soon after a delivery of a megabyte of backslashes', async () => {
    const { user } = await account();
    // Without a key nothing is hidden, and nothing takes long: what is kept is read by one who has a key.
    const listener = await Listener.start(user, ['--json'], { env: { STENO_API_KEY: undefined } });
    await listener.post(bodies.backslashes ?? '');
    await listener.stop();
    const { code, stdout } = await runBounded(user, ['events', '--json']);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(2 * MEGABYTE);
  });
});

describe('events on a terminal', () => {
  it.each([
    ['spaces', `event=X&a=${'+'.repeat(900_000)}x`],
    ['characters without a width', `event=X&a=${'\u200b'.repeat(300_000)}${'x'.repeat(200)}`],
    ['accents', `event=X&a=${'e\u0301'.repeat(300_000)}`],
    ['one long field and many short ones', `event=X&a=${'x'.repeat(400_000)}&${'b=1&'.repeat(120_000)}`],
    ['one long name and many short ones', `event=X&${'x'.repeat(400_000)}=1&${'b=1&'.repeat(120_000)}`],
  ])('end soon after a delivery of %s', async (_, body) => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--quiet']);
    expect((await listener.post(body)).status).toBe(200);
    await listener.stop();
    for (const args of ['events', 'events show 1']) {
      const { code, stdout } = await user.onTerminal(`timeout -s KILL ${PATIENCE / 1000} steno ${args}`);
      expect([args, code]).toEqual([args, 0]);
      expect(stdout).toContain('X');
    }
  });
});

describe('file', () => {
  it.each(['', '--json', '--csv'])('ends soon with a title of 100,000 backslashes %s', async (flag) => {
    const { service, user } = await account();
    const title = '\\'.repeat(100_000);
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, title } } });
    const { code, stdout } = await runBounded(user, ['file', '1', ...(flag ? [flag] : [])]);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThanOrEqual(title.length);
  });

  it('ends soon where the service answers with a page of a megabyte that never ends', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', { body: `<p>${'<script'.repeat(MEGABYTE / 7)}` });
    const { code, stderr } = await runBounded(user, ['file', '1']);
    expect(code).toBe(1);
    expect(stderr).toContain("can't be read");
  });
});
