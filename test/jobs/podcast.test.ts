/** Two months of three shows, by a script of a dozen lines: what is published is transcribed once, and paid as reported. */
import { spawn } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseCsv } from '../support/csv.ts';
import { item, rss } from '../support/feed.ts';
import { listing } from '../support/files.ts';
import { installedTools } from '../support/readme.ts';
import { finished, type Result, User } from '../support/steno.ts';

const DAY_MS = 86_400_000;
const WEEKS = 9;
const BUDGET = 40;

/** The first day of the month after this one, in the morning. */
function nextMonth(time: Date, months = 1): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + months, 1, 6));
}

/** Three shows with an episode a week. The second has two to a page; the third moves to another host. */
class Shows {
  now = 0;
  readonly first: number;
  readonly #server = createServer((request, response) => {
    const [, show = '', page = '1'] = /^\/(\w+)(?:-(\d+))?\.xml$/.exec(request.url ?? '') ?? [];
    response.setHeader('content-type', 'application/rss+xml');
    response.end(this.#feed(show, Number(page)));
  });

  constructor(first: number) {
    this.first = first;
  }

  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void this.#server.close());
    return this.base;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Newest first. */
  #feed(show: string, page: number): string {
    const weeks = Math.min(WEEKS, Math.floor((this.now - this.first) / (7 * DAY_MS)) + 1);
    const episodes = Array.from({ length: weeks }, (_, week) => this.#episode(show, week, weeks)).reverse();
    if (show !== 'paged') return rss(episodes.join(''), `<link>https://${show}.example</link>`);
    const next = `<atom:link rel="next" href="${this.base}/paged-${page + 1}.xml"/>`;
    return rss(episodes.slice(2 * page - 2, 2 * page).join(''), 2 * page < weeks ? next : '');
  }

  #episode(show: string, week: number, weeks: number): string {
    const host = show === 'moving' && weeks > 5 ? 'new-host.example' : 'media.example';
    // The second episode of the first show has a bad link for two weeks.
    const isBad = show === 'weekly' && week === 1 && weeks < 4;
    return item({
      guid: `${show}-${week}`,
      title: `Part ${week + 1}: ${show}`,
      date: new Date(this.first + week * 7 * DAY_MS).toUTCString(),
      url: `https://${host}/${show}-${week}${isBad ? '-unfetchable' : ''}.mp3`,
      more: '<itunes:duration>5:00</itunes:duration>',
    });
  }
}

/** Who runs the script in the sandbox, on the days that the test says. */
class Podcaster {
  readonly user = new User({ STENO_PROFILE: 'sandbox', STENO_LEDGER: undefined, TZ: 'UTC' });
  now = new Date();

  constructor() {
    const { user } = this;
    user.env.PATH = [user.home, installedTools()].join(delimiter);
    copyFileSync('test/jobs/podcast.sh', join(user.home, 'podcast.sh'));
    // As the real one, on the sandbox's day.
    this.#program(
      'date',
      'case $1 in -d) shift; exec /bin/date -d "$(cat now) $1" "$2";; esac; exec /bin/date -d "$(cat now)" "$1"',
    );
    // The first try for each file fails.
    this.#program(
      'publish',
      'mkdir -p tried published; name=$(basename "$STENO_EVENT_PATH")\nmkdir "tried/$name" 2>/dev/null && exit 1\ncp "$STENO_EVENT_PATH" published/',
    );
  }

  #program(name: string, text: string): void {
    writeFileSync(join(this.user.home, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  async steno(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.user.run(args);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  }

  async moveTo(day: Date): Promise<void> {
    await this.steno(
      'sandbox',
      'advance',
      '--by',
      `${Math.round((day.getTime() - this.now.getTime()) / 1000)}s`,
    );
    this.now = day;
    writeFileSync(join(this.user.home, 'now'), day.toISOString().replace('T', ' ').slice(0, 16));
  }

  cron(): Promise<Result> {
    return finished(spawn('bash', ['podcast.sh'], { cwd: this.user.home, env: this.user.env }));
  }

  spent(month: Date): number[] {
    const text = readFileSync(join(this.user.home, `spent-${month.toISOString().slice(0, 7)}.csv`), 'utf8');
    const [header = [], ...rows] = parseCsv(text);
    return rows.map((row) => Number(row[header.indexOf('spent')]));
  }
}

const sum = (amounts: readonly number[]): number =>
  Number(amounts.reduce((all, each) => all + each, 0).toFixed(2));

it('orders each episode once within the budget, publishes all, and reports what was paid', {
  timeout: 300_000,
}, async () => {
  const script = readFileSync('test/jobs/podcast.sh', 'utf8');
  expect(script.trim().split('\n').length).toBeLessThanOrEqual(21);
  const podcaster = new Podcaster();
  const first = nextMonth(podcaster.now);
  const shows = new Shows(first.getTime());
  const base = await shows.start();
  const list = ['weekly', 'paged', 'moving'].map((show) => `${show} ${base}/${show}.xml\n`);
  writeFileSync(join(podcaster.user.home, 'shows.txt'), list.join(''));
  await podcaster.steno('config', 'set', 'price.TRANS14', '0.86');
  await podcaster.steno('budget', 'set', `${BUDGET}/month`);
  const before = Number(await podcaster.steno('balance'));
  const ends = [nextMonth(first), nextMonth(first, 2), nextMonth(first, 3)];
  const weekly = Array.from({ length: 13 }, (_, n) => new Date(first.getTime() + n * 7 * DAY_MS));
  const days = [...new Set([...weekly, ...ends].map(Number))].sort((one, other) => one - other);
  for (const day of days.filter((each) => each <= Number(ends[2]))) {
    shows.now = day;
    await podcaster.moveTo(new Date(day));
    const { stderr } = await podcaster.cron();
    if (day === days[1]) expect(stderr).toContain("episode 'Part 2: weekly'");
  }
  const files = JSON.parse(await podcaster.steno('files', '--json'));
  expect(files.map(({ guid }: { guid: string }) => guid).sort()).toEqual(
    ['moving', 'paged', 'weekly'].flatMap((show) => Array.from({ length: WEEKS }, (_, n) => `${show}-${n}`)),
  );
  expect(listing(join(podcaster.user.home, 'published'))).toHaveLength(2 * 3 * WEEKS);
  const months = [first, ...ends.slice(0, 2)].map((month) => podcaster.spent(month));
  for (const month of months) expect(sum(month)).toBeLessThanOrEqual(BUDGET);
  const paid = before - Number(await podcaster.steno('balance'));
  expect(sum(months.flat())).toBe(Number(paid.toFixed(2)));
});
