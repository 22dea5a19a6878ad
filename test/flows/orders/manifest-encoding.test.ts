/** Manifests and notes that are not UTF-8 are refused by the name of their encoding, with what mends them. */
import { execSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount } from '../../support/ledger.ts';

const [a, b] = [audio('a'), audio('b')];
const NOTES = 'Café im Jänner, “zweimal”';
const table = (notes: string): string => `url,sku,notes\n${a},TRANS14,plain\n${b},TRANS14,"${notes}"\n`;

const utf16 = (text: string, order: 'le' | 'be'): Buffer => {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'be' ? bytes.swap16() : bytes;
};
const utf32 = (text: string): Buffer =>
  Buffer.concat(
    [...`\ufeff${text}`].map((each) => Buffer.from(Uint32Array.of(each.codePointAt(0) ?? 0).buffer)),
  );
const windows1252 = (text: string): Buffer =>
  Buffer.from(text.replace('“', '\u0093').replace('”', '\u0094'), 'latin1');

/** What it looks like, its bytes, the line of the first byte that can't be read, and the notes in it. */
const encodings: ReadonlyArray<readonly [string, (text: string) => Buffer, number, string]> = [
  ['Latin-1', (text) => Buffer.from(text, 'latin1'), 3, 'Café im Jänner'],
  ['Latin-1', (text) => Buffer.from(text.replaceAll('\n', '\r'), 'latin1'), 3, 'Café im Jänner'],
  ['Windows-1252', windows1252, 3, NOTES],
  ['UTF-16 LE', (text) => utf16(`\ufeff${text}`, 'le'), 1, NOTES],
  ['UTF-16 BE', (text) => utf16(`\ufeff${text}`, 'be'), 1, NOTES],
  ['UTF-16 LE', (text) => utf16(text, 'le'), 1, NOTES],
  ['UTF-16 BE', (text) => utf16(text, 'be'), 1, NOTES],
  ['UTF-32', utf32, 1, NOTES],
];

describe('a manifest in another encoding', () => {
  it.each(encodings)('%s is named, and the hint mends it', async (name, encode, line, notes) => {
    const { user, service } = await orderingAccount();
    writeFileSync(join(user.home, 'my talks.csv'), encode(table(notes)));
    const { code, stdout, stderr } = await user.run(['order', '--from', 'my talks.csv']);
    expect([code, stdout, service.got]).toEqual([2, '', []]);
    const [message, hint = ''] = stderr.split('\n');
    expect(message).toBe(
      `steno: my talks.csv is not UTF-8 (it looks like ${name}): the first byte that can't be read is in line ${line}`,
    );
    const [, command = 'false'] = /^hint: save it as UTF-8, or: (iconv .*)$/.exec(hint) ?? [];
    execSync(command, { cwd: user.home });
    const mended = await user.run(['order', '--from', 'my talks.utf8.csv', '--dry-run', '--json']);
    expect(mended.code, mended.stderr).toBe(0);
    expect(JSON.parse(mended.stdout).orders).toMatchObject([{ notes: 'plain' }, { notes }]);
  });

  it('from stdin has a hint for the pipe', async () => {
    const { user } = await orderingAccount();
    const child = user.start(['order', '--from', '-']);
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.end(Buffer.from(table('Café'), 'latin1'));
    const code = await new Promise((done) => child.on('close', done));
    expect([code, stderr]).toEqual([
      2,
      "steno: stdin is not UTF-8 (it looks like Latin-1): the first byte that can't be read is in line 3\n" +
        'hint: pipe it through: iconv -f ISO-8859-1 -t UTF-8 |\n',
    ]);
  });

  const others: ReadonlyArray<readonly [string, Buffer, RegExp]> = [
    [
      'in one line only',
      Buffer.concat([Buffer.from(table('Café')), Buffer.from(`${audio('c')},TRANS14,Café\n`, 'latin1')]),
      /^steno: m, line 4 is not UTF-8, though other lines are\nhint: /,
    ],
    [
      'of a spreadsheet',
      Buffer.from('PK\u0003\u0004\u0014\u0000\u0006\u0000', 'latin1'),
      /^steno: m, line 1: a spreadsheet or a zip file, not a text file\nhint: save it as CSV/,
    ],
    [
      'with a zero byte',
      Buffer.from(`${a}\n${b}\u0000\n`),
      /^steno: m, line 2: it contains a zero byte, so this is not/,
    ],
  ];

  it.each(others)('%s is refused with its line', async (_, bytes, says) => {
    const { user, service } = await orderingAccount();
    writeFileSync(join(user.home, 'm'), bytes);
    const { code, stderr } = await user.run(['order', '--from', 'm', '--sku', 'TRANS14']);
    expect([code, service.got]).toEqual([2, []]);
    expect(stderr).toMatch(says);
  });
});

describe('notes from a file', () => {
  it('in another encoding are refused, and those with a byte order mark are taken', async () => {
    const { user, service } = await orderingAccount();
    const line = ['order', a, '--sku', 'TRANS14', '--notes-file', 'notes.txt'];
    writeFileSync(join(user.home, 'notes.txt'), Buffer.from('One\nCafé\n', 'latin1'));
    const refused = await user.run(line);
    expect([refused.code, service.got]).toEqual([2, []]);
    expect(refused.stderr).toContain('notes.txt is not UTF-8 (it looks like Latin-1)');
    expect(refused.stderr).toContain('in line 2\n');
    writeFileSync(join(user.home, 'notes.txt'), '\ufeffOne\nCafé\n');
    const taken = await user.run(line);
    expect([taken.code, service.got[0]?.body?.notes]).toEqual([0, 'One\nCafé']);
  });
});
