/** Time limits hold while the clock is set back by an hour. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../support/account.ts';
import { settableClock } from '../support/clock.ts';
import { audio } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { finished, KEY } from '../support/steno.ts';

/** Ends what would go on for an hour. */
const TOO_LATE_MS = 20_000;

describe.concurrent('the clock is set back, and --timeout ends with 6:', () => {
  const lines: ReadonlyArray<readonly [string, readonly string[]]> = [
    ['wait', ['wait', '1', '--interval', '50ms']],
    ['wait with its own pauses', ['wait', '1']],
    ['file --watch', ['file', '1', '--watch', '--interval', '50ms']],
    ['order --wait', ['order', audio('a'), '--sku', 'TRANS14', '--wait', '--interval', '50ms']],
  ];

  it.each(lines)('%s', async (_, line) => {
    const { service, user } = await account();
    const clock = settableClock(user);
    let polls = 0;
    service.allow('POST /order_url', { body: { order: 'o1', audiofiles: [1] } });
    service.on('GET /audiofile/1', (_got, response) => {
      polls += 1;
      if (polls === 2) clock.setBack();
      response.end(JSON.stringify(fileAnswer(1, 'Transcribing').body));
    });
    const child = user.start([...line, '--timeout', '3s'], clock);
    const late = setTimeout(() => child.kill('SIGKILL'), TOO_LATE_MS);
    const { code, stderr } = await finished(child);
    clearTimeout(late);
    expect(code, stderr).toBe(6);
    expect(polls).toBeGreaterThan(1);
  });

  it('login, in the middle of its call', async () => {
    const { service, user } = await account({ STENO_API_KEY: undefined });
    const clock = settableClock(user);
    // The first try uses up some time, the second one is never answered.
    service.on(
      'GET /prepay_balance',
      (_got, response) => {
        clock.setBack();
        response.writeHead(503).end();
      },
      () => {},
    );
    const child = user.start(['login', '--timeout', '3s'], clock);
    child.stdin.end(KEY);
    const late = setTimeout(() => child.kill('SIGKILL'), TOO_LATE_MS);
    const { code, stderr } = await finished(child);
    clearTimeout(late);
    expect(code, stderr).toBe(6);
  });
});

it('the clock is set back, and listen --timeout ends with 6', async () => {
  const { user } = await account({ STENO_API_KEY: undefined, STENO_BASE_URL: undefined });
  const clock = settableClock(user);
  const listener = await Listener.start(user, ['--timeout', '3s'], clock);
  clock.setBack();
  const late = setTimeout(() => listener.child.kill('SIGKILL'), TOO_LATE_MS);
  expect((await listener.ended).code).toBe(6);
  clearTimeout(late);
});

/** What needs the time of day; all else measures with monotonicMs. */
const timeOfDay: Readonly<Record<string, string>> = {
  'api/http/failures.ts': 'Retry-After may be a date',
  'commands/events.ts': '--since',
  'commands/file.ts': 'when a state was seen',
  'commands/files.ts': '--since',
  'commands/ledger.ts': '--before',
  'commands/log.ts': '--since',
  'commands/report.ts': '--since, and what is late',
  'commands/sync.ts': '--since',
  'flows/answer.ts': 'when the service was asked',
  'flows/check/check.ts': 'when all new transcripts were last checked',
  'flows/files/refresh.ts': 'when the service was asked',
  'flows/orders/feed-rows.ts': '--since',
  'flows/orders/local-audio.ts': 'the age of a file on disk',
  'flows/prices/estimate.ts': 'whether a month is one of this year',
  'flows/search/search.ts': '--since',
  'flows/transcripts/partial-files.ts': 'the age of a file on disk',
  'flows/transcripts/save.ts': 'when a transcript was written',
  'ledger/budgets.ts': 'the clock of the database, which decides the month of a budget',
  'ledger/file-watch.ts': 'which polls a wrong clock has put into the future',
  'ledger/file-windows.ts': 'what is late',
  'ledger/lease.ts': 'when another process was last seen',
  'ledger/shared.ts': 'how far the clock of the database is from ours',
  'ledger/stores/backup-process.ts': 'the age of a file on disk',
  'ledger/stores/backups.ts': 'the age of a file on disk',
  'ledger/table.ts': 'timestamps of rows',
  'lib/fs.ts': 'the age of a file on disk',
  'lib/processes.ts': 'when this process began',
  'lib/sqlite.ts': 'timestamps of rows',
  'lib/time.ts': 'the clock itself',
  'listen/action-queue.ts': 'which actions are due',
  'listen/history.ts': 'how old an event is',
  'listen/missed-events.ts': 'when a file was last asked about',
  'listen/recorder.ts': 'when an event was found, or a transcript handed over',
  'listen/server.ts': 'when an event came',
  'listen/target-state.ts': 'when a target is tried again, restarts included',
  'pages/account-api.ts': '--since of a report',
  'pages/client/format.ts': 'relative times on the page',
  'pages/files-api.ts': 'what is late',
  'ui/table.ts': 'relative times in tables',
  'views/lines.ts': 'which events an earlier listener has received',
};

it('only what needs the time of day reads it', () => {
  const readers = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.startsWith('sandbox/'))
    .filter((path) => /Date\.now\(\)|(?<![.\w])nowMs\(\)/.test(readFileSync(join('src', path), 'utf8')));
  expect(readers.sort()).toEqual(Object.keys(timeOfDay));
});
