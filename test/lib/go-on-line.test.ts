import { describe, expect, it } from 'vitest';
import { goOnHint } from '../../src/lib/interruption.ts';
import { signed, signers } from '../support/signed.ts';

const hint = (...line: string[]): string => goOnHint('resume with', line, '--skip-existing');

describe('the line to go on with', () => {
  it('is the same line with the flag, quoted for a shell', () => {
    expect(hint('transcript', '--from', 'my ids.txt', '-o', "it's/")).toBe(
      `resume with: steno transcript --from 'my ids.txt' -o 'it'\\''s/' --skip-existing`,
    );
  });

  it('has the flag once, and before what follows two dashes', () => {
    expect(hint('transcript', '--skip-existing', '5')).toBe(
      'resume with: steno transcript --skip-existing 5',
    );
    expect(hint('transcript', '--', '5', '--api-key')).toBe(
      'resume with: steno transcript --skip-existing -- 5 --api-key',
    );
  });

  it('never has the key', () => {
    for (const key of [['--api-key', 'secret'], ['--api-key=secret']])
      expect(hint(...key, 'transcript', '5', ...key)).toBe('resume with: steno transcript 5 --skip-existing');
  });

  it.each([
    ...signers.map((signer) => signed('https://e.org/a.mp3', 1, signer)),
    'https://token@e.org/a.mp3',
    '--to=https://user:pass@e.org/',
    'postgres://steno:pass@db/steno',
    'postgres://steno@db/steno?password=pass',
  ])('is not spelled out where a word holds a secret: %s', (word) => {
    expect(hint('order', word)).toBe('resume with: the same command, with --skip-existing');
  });

  it('is not spelled out where it can not be shown as it is', () => {
    for (const word of ['two  blanks', 'a\nbreak', 'x'.repeat(500)])
      expect(hint('order', word)).toBe('resume with: the same command, with --skip-existing');
  });

  it('keeps the user of a database, and says that it reads stdin', () => {
    expect(goOnHint('try again with', ['ledger', 'copy', '--to', 'postgres://steno@db/steno'])).toBe(
      'try again with: steno ledger copy --to postgres://steno@db/steno',
    );
    expect(goOnHint('try again with', ['ledger', 'import', '-'])).toBe(
      'try again with the same input: steno ledger import -',
    );
  });
});
