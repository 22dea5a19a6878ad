/** What long work shows on a real terminal, and what it leaves there. */
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../support/account.ts';
import { orderingAccount, reply } from '../support/ledger.ts';
import type { Answer } from '../support/server.ts';
import { longOnly, sliceOf } from '../support/slices.ts';
import { finished, KEY } from '../support/steno.ts';
import { until } from '../support/until.ts';

const ESC = '\u001b';

/** Answers after a while. */
const delayed =
  (ms: number, body: object): Answer =>
  (_, response) =>
    void setTimeout(() => reply(response, body), ms);

/** Each text that the line showed, without its spinner. */
const frames = (screen: string): string[] =>
  screen
    .split(/\u001b\[\?2026[hl]|\r|\n/)
    .map((part) => stripVTControlCharacters(part).trim())
    .flatMap((part) => /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏\-\\|/] (.*)$/u.exec(part)?.[1] ?? []);

const endsShown = (screen: string): boolean =>
  screen.lastIndexOf(`${ESC}[?25h`) > screen.lastIndexOf(`${ESC}[?25l`);

describe.concurrent('a single call', () => {
  it('draws nothing within its first second', async () => {
    const { service, user } = await account();
    service.on('*', delayed(500, { balance: '1.00' }));
    const { stdout } = await user.onTerminal('steno balance --quiet');
    expect(stdout).toBe('1.00\r\n');
  });

  it.each(sliceOf(['', '--quiet', '--json', '--csv'], 3))(
    'that is slow shows the seconds, with %s',
    async (flag) => {
      const { service, user } = await account();
      service.on('*', delayed(3_500, { balance: '1.00' }));
      const { code, stdout } = await user.onTerminal(`steno balance ${flag}`);
      expect(code).toBe(0);
      expect(frames(stdout)).toContain('waiting for the service, 1 s');
      expect(frames(stdout)).toContain('waiting for the service, 2 s');
      expect(frames(stdout)).not.toContain('waiting for the service, 0 s');
      expect(endsShown(stdout)).toBe(true);
    },
  );

  it('shows it while stdout goes elsewhere, which gets none of it', async () => {
    const { service, user } = await account();
    service.on('*', delayed(2_500, { balance: '1.00' }));
    const { stdout } = await user.onTerminal("sh -c 'steno balance > out.txt; echo; cat -v out.txt'");
    expect(frames(stdout)).toContain('waiting for the service, 1 s');
    expect(stdout.endsWith('\n1.00\r\n')).toBe(true);
  });

  it('that fails leaves one clean object of --json', async () => {
    const { service, user } = await account();
    service.on('*', (_, response) => void setTimeout(() => response.writeHead(401).end(), 2_000));
    const { code, stdout } = await user.onTerminal('steno balance --json');
    expect(code).toBe(3);
    expect(endsShown(stdout)).toBe(true);
    const [, error = ''] = /\u001b\[\?25h(\{"error".*\})\r\n/.exec(stdout) ?? [];
    expect(JSON.parse(error)).toMatchObject({ error: { code: 'auth' } });
  });
});

/** Files that are asked about one after the other, with a pause. */
async function slowFiles(ms: number) {
  const it = await orderingAccount();
  it.service.allow('*', ({ path }, response) => {
    const [, id = '', transcript] = /^\/audiofile\/([^/]+)(\/transcript\.\w+)?$/.exec(path) ?? [];
    setTimeout(() => {
      if (transcript) response.end(`transcript ${id}\n`.repeat(100));
      else if (path.startsWith('/invoice/')) reply(response, { id: path.slice(9), total: '1.00' });
      else reply(response, fileAnswer(Number(id)).body);
    }, ms);
  });
  return it;
}

const many = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String(from + at));

describe.concurrent('work on many', () => {
  it.each(
    sliceOf(
      [
        ['file', /^Asking · \d+ of 40 · [\d.]+\/s · \d+ s left$/],
        ['track', /^Asking · \d+ of 40 · [\d.]+\/s · \d+ s left$/],
        ['invoice', /^Asking · \d+ of 40 · [\d.]+\/s · \d+ s left$/],
        ['transcript', /^Downloading · \d+ of 40 · [\d.]+ kB · [\d.]+ k?B\/s · \d+ s left$/],
      ],
      2,
    ),
  )('%s shows how many are done, the rate and the time left', async (command, text) => {
    const { user } = await slowFiles(500);
    const { code, stdout } = await user.onTerminal(`steno ${command} ${many(1, 40).join(' ')}`);
    expect(code).toBe(0);
    expect(frames(stdout).filter((frame) => text.test(frame))).not.toEqual([]);
  });

  it('shows the states of what is waited for, and the time', async () => {
    const { user, states, service } = await orderingAccount();
    states.set('2', ['Transcribing', 'Transcribing', 'Delivered']);
    states.set('3', ['Transcribing', `In${ESC}[31m\u0007spection`, 'Delivered']);
    const { code, stdout } = await user.onTerminal('steno wait 1 2 3 --interval 1200ms --json');
    expect([code, service.got.length > 5]).toEqual([0, true]);
    expect(frames(stdout)).toContain('Waiting · 1 delivered · 2 transcribing · 00:01');
    expect(stdout).not.toContain('\u0007');
    expect(stdout).not.toContain(`${ESC}[31m`);
  });

  it('passes on what a replayed command prints, in whole lines', async () => {
    const { user } = await account();
    const child = user.start(['listen', '--port', '0', '--count', '2', '--quiet']);
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const url = await until(() => /listening on (\S+)/.exec(said)?.[1], 'the listener');
    for (const file of ['1', '2'])
      await fetch(url, { method: 'POST', body: new URLSearchParams({ event: 'FILE_COMPLETE', file }) });
    await finished(child);
    const command = 'printf one; sleep 2; printf two; sleep 1; echo " three"';
    const { code, stdout } = await user.onTerminal(`steno events replay 1 2 --exec '${command}'`);
    expect(code, stdout).toBe(0);
    expect(stdout.match(/onetwo three\r\n/g)).toHaveLength(2);
    expect(
      frames(stdout).filter((each) => /^Replaying · 1 of 2 · [\d.]+\/s · \d s left$/.test(each)),
    ).not.toEqual([]);
  });
});

describe.concurrent('the line', () => {
  it.each(sliceOf([20, 40], 2))('is never wider than a terminal of %d columns', async (columns) => {
    const { user, states } = await orderingAccount();
    states.set('1', ['漢字の状態', '漢字の状態漢字の状態漢字の状態', 'Delivered']);
    const { stdout } = await user.onTerminal('steno wait 1 --interval 1500ms --quiet', { columns });
    const seen = frames(stdout);
    expect(seen).not.toEqual([]);
    for (const frame of seen) expect(stringWidth(frame) + 2).toBeLessThan(columns);
    expect(seen.some((frame) => frame.endsWith('…'))).toBe(true);
  });

  it('never shows the key', async () => {
    const { user, states } = await orderingAccount();
    states.set('1', [`state ${KEY}`, `state ${KEY}`, 'Delivered']);
    const { stdout } = await user.onTerminal('steno wait 1 --interval 1500ms --quiet');
    expect(frames(stdout).length).toBeGreaterThan(3);
    expect(stdout).not.toContain(KEY.slice(0, 8));
    expect(stdout).not.toContain(KEY.toLowerCase().slice(0, 8));
  });
});

describe.concurrent('without a line that moves', () => {
  const plain = /^waiting for the service, 1[01] s$/m;

  it('a plain line comes after ten seconds: with --no-progress, on a dumb terminal, and in CI', async () => {
    const { service, user } = await account();
    service.on('*', delayed(12_000, { balance: '1.00' }));
    const [flag, dumb, ci] = await Promise.all([
      user.onTerminal('steno balance --no-progress --no-color'),
      user.onTerminal('steno --quiet balance', { env: { TERM: 'dumb' } }),
      user.run(['balance', '--quiet'], { env: { CI: 'true' } }),
    ]);
    for (const { stdout } of [flag, dumb]) {
      const lines = stdout.replaceAll('\r', '');
      expect(lines.match(/waiting for the service/g)).toHaveLength(1);
      expect(lines).toMatch(/^waiting for the service, \d+ s$/m);
      expect(stdout).not.toContain(ESC);
    }
    expect(ci.stderr).toBe('');
    const log = await user.run(['balance'], { env: { CI: 'true' } });
    expect([log.stdout, log.stderr]).toEqual(['1.00\n', expect.stringMatching(plain)]);
  }, 60_000);

  it('--no-progress shows nothing of shorter work, before or after the command', async () => {
    const { service, user } = await account();
    service.on('*', delayed(2_500, { balance: '1.00' }));
    for (const line of ['steno --no-progress balance --quiet', 'steno balance --no-progress --quiet'])
      expect((await user.onTerminal(line)).stdout).toBe('1.00\r\n');
  });

  longOnly(
    'a pipe stays quiet',
    async () => {
      const { service, user } = await account();
      service.on('*', delayed(11_000, { balance: '1.00' }));
      const { stdout, stderr } = await finished(user.start(['balance']));
      expect([stdout, stderr]).toEqual(['1.00\n', '']);
    },
    40_000,
  );
});
