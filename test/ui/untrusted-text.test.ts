/** Untrusted text (titles, events, messages of the service) can't hide, run in a spreadsheet or show half a key. */
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../support/account.ts';
import { parseCsv } from '../support/csv.ts';
import { form, Listener } from '../support/listener.ts';
import { longOnly } from '../support/slices.ts';
import { KEY } from '../support/steno.ts';

const spoofed = 'invoice\u202efdp.exe\u200b\u{e0041}';
const shown = 'invoice\ufffdfdp.exe\ufffd\ufffd';

/** The start of the key, as long as a cut would leave it; a single character of it proves nothing. */
const keyStart = KEY.slice(0, 4);

describe('a hidden character', () => {
  it('is shown on a terminal, in rows, in CSV and with --quiet, and stays in JSON', async () => {
    const { service, user } = await account();
    service.allow('*', fileAnswer(1, 'Delivered', spoofed));
    for (const line of ['steno file 1', 'steno file 1 1', 'steno file 1 --watch --timeout 5s'])
      expect((await user.onTerminal(line)).stdout).toContain(shown);
    for (const args of [
      ['file', '1'],
      ['file', '1', '--csv'],
    ])
      expect((await user.run(args)).stdout).toContain(shown);
    const { stdout } = await user.run(['file', '1', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ title: spoofed, answer: { audiofile: { title: spoofed } } });
  });

  it('is a blank in an error', async () => {
    const { service, user } = await account();
    service.on('*', { status: 400, body: { message: spoofed } });
    expect((await user.run(['file', '1'])).stderr).toContain('invoice fdp.exe)');
  });

  it('is no part of a key', async () => {
    const { user } = await account();
    const { code, stderr } = await user.run(['whoami'], { env: { STENO_API_KEY: 'some\u200bkey' } });
    expect([code, stderr]).toEqual([2, expect.stringContaining('invisible characters')]);
  });
});

describe('a formula', () => {
  it('is text in CSV, and exact in JSON', async () => {
    const { service, user } = await account();
    for (const title of ['=HYPERLINK("http://h")', '@SUM(1)', '+1+cmd|x', '-2+3']) {
      service.allow('*', fileAnswer(1, 'Delivered', title));
      const [, row] = parseCsv((await user.run(['file', '1', '--csv'])).stdout);
      expect(row?.[2]).toBe(`'${title}`);
      expect((await user.run(['file', '1'])).stdout.split('\t')[2]).toBe(title);
      const { stdout } = await user.run(['file', '1', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({ title, answer: { audiofile: { title } } });
    }
  });

  it('in an event is text too', async () => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--csv']);
    await listener.post(form({ event: '=1+1', audiofile: '@x', order: '-3' }));
    await listener.until(() => listener.lines.length === 2);
    await listener.stop();
    const [, row] = parseCsv(listener.stdout);
    expect(row?.slice(2, 5)).toEqual(["'=1+1", "'@x", '-3']);
    const [, again] = parseCsv((await user.run(['events', '--csv'])).stdout);
    expect(again?.slice(2, 5)).toEqual(["'=1+1", "'@x", '-3']);
  });
});

describe('a line break', () => {
  it('is a space in CSV, in every column of an event, and stays in JSON', async () => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--csv']);
    const fields = {
      event: 'A\nB',
      audiofile: '1\r\n2',
      order: '3\t4',
      'na\nme\u2028x': 'one\r\ntwo\u2029three',
    };
    await listener.post(form(fields));
    await listener.until(() => listener.lines.length >= 2);
    await listener.stop();
    for (const text of [listener.stdout, (await user.run(['events', '--csv'])).stdout]) {
      expect(text.split('\r\n')).toHaveLength(3);
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n\t\u2028\u2029]/);
      expect(parseCsv(text)[1]?.slice(2, 5)).toEqual(['A B', '1 2', '3 4']);
    }
    const { stdout } = await user.run(['events', '--json']);
    expect(JSON.stringify(JSON.parse(stdout))).toContain('one\\r\\ntwo\u2029three');
  });
});

describe('a key that is cut', () => {
  it('does not show its beginning in a table, at any width', async () => {
    const { service, user } = await account();
    service.allow('GET /audiofile/1', fileAnswer(1, 'Delivered', `${'x'.repeat(12)}${KEY}`));
    service.allow('GET /audiofile/2', fileAnswer(2, 'Delivered', KEY));
    for (const columns of [40, 48, 56, 64, 72]) {
      const { stdout } = await user.onTerminal('steno file 1 2', { columns });
      expect(stdout).toContain('****');
      expect([columns, stdout.includes(keyStart)]).toEqual([columns, false]);
    }
  });

  longOnly('does not show its beginning in the line of an event', async () => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--quiet']);
    for (const length of [150, 170, 180, 190])
      await listener.post(form({ event: 'NEW', x: 'y'.repeat(length) + KEY }));
    await listener.until(() => listener.lines.length === 4);
    await listener.stop();
    for (const line of ['steno events', 'timeout 5 steno events --follow']) {
      const { stdout } = await user.onTerminal(line, { columns: 300 });
      expect(stdout).toContain('****');
      expect([line, stdout.includes(keyStart)]).toEqual([line, false]);
    }
  });

  it.each(['upgrade 1 --sku UPG --any-sku', 'order https://h/a.mp3 --sku TRANS14', 'balance'])(
    'does not show its beginning in what the service says: %s',
    async (line) => {
      for (const name of ['error', 'message']) {
        for (const length of [190, 290, 590 - 'the service refused: '.length]) {
          const { service, user } = await account();
          service.allow('*', { body: { [name]: 'z'.repeat(length) + KEY } });
          const { stdout, stderr } = await user.run(line.split(' '));
          expect([length, (stdout + stderr).includes(keyStart)]).toEqual([length, false]);
        }
      }
    },
  );

  it('does not show its end in what a tunnel says', async () => {
    const { user } = await account();
    const tunnel = `printf '%s' 'sk+very/secret=key&0123456789 ${'t'.repeat(280)}'; exit 1`;
    const { code, stderr } = await user.run(['listen', '--port', '0', '--tunnel', tunnel]);
    expect([code, stderr.includes('ttt'), stderr.includes('3456789')]).toEqual([1, true, false]);
  });
});

describe('listen --quiet', () => {
  it('prints one clean line for each event', async () => {
    const { user } = await account();
    const listener = await Listener.start(user, ['--quiet']);
    await listener.post(form({ event: 'X', audiofile: 'a\nb\tc\u001b[31m\u202ed' }));
    await listener.post(form({ event: 'two\r\nlines\u0007' }));
    await listener.until(() => listener.lines.length >= 2);
    await listener.stop();
    expect(listener.stdout).toBe('a b c [31m\ufffdd\ntwo lines \n');
  });
});
