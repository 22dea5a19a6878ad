/** A title may be a signed link: one template gives one name for it in every command, without the signature. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../../support/account.ts';
import { complete, Listener } from '../../support/listener.ts';
import { filesBelow } from '../../support/secrets.ts';
import { expectNoSecretIn, SECRET, type Signer, signed, signers } from '../../support/signed.ts';

const NAME = 'https___acc.example.com_c_y.mp3.txt';

const commands: ReadonlyArray<readonly [string, boolean, string[]]> = [
  ['transcript', false, ['transcript', '1', '-o', 'd/']],
  ['transcript of a known file', true, ['transcript', '1', '-o', 'd/']],
  ['transcript --no-ledger', false, ['transcript', '1', '-o', 'd/', '--no-ledger']],
  ['wait --download', false, ['wait', '1', '--download', 'd']],
  ['wait --download of a known file', true, ['wait', '1', '--download', 'd']],
  ['sync', true, ['sync', '--download', 'd']],
];

const title = (by: Signer): string => signed('https://acc.example.com/c/y.mp3', 1, by);

describe('a title that is a signed link', () => {
  it.each(commands)('names a file without the signature: %s', async (_, isKnown, line) => {
    for (const by of isKnown ? (['azure'] as const) : signers) {
      const { service, user } = await account();
      service.on('GET /audiofile/1', fileAnswer(1, 'Delivered', title(by)));
      service.on('POST /audiofile/1/transcript.txt', { body: 'words' });
      if (isKnown) await user.run(['track', '1']);
      const { code, stdout, stderr } = await user.run([...line, '--name-as', '{title}.{ext}']);
      expect(code).toBe(0);
      expect(stdout + stderr).not.toContain(SECRET);
      expect(filesBelow(join(user.home, 'd')).map((path) => path.replace(/.*\/d\//, ''))).toEqual([NAME]);
      if (!line.includes('--no-ledger')) expectNoSecretIn(user);
    }
  });

  it('names a file without the signature: listen', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', fileAnswer(1, 'Delivered', title('azure')));
    service.on('POST /audiofile/1/transcript.txt', { body: 'words' });
    const listener = await Listener.start(user, ['--download', 'd', '--name-as', '{title}.{ext}']);
    await listener.post(complete('1'));
    await listener.until(() => filesIn(user.home).includes(NAME));
    await listener.stop();
    expect(listener.stdout + listener.stderr).not.toContain(SECRET);
    expectNoSecretIn(user);
  });
});

function filesIn(home: string): string[] {
  try {
    return filesBelow(join(home, 'd')).map((path) => path.replace(/.*\/d\//, ''));
  } catch {
    return [];
  }
}
