/** Where a download goes, and what it leaves alone. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../../support/account.ts';

describe('a download', () => {
  it('to what can never be a folder is refused before anything is ordered', async () => {
    const { service, user } = await account();
    writeFileSync(join(user.home, 'file'), '');
    for (const folder of ['file', 'file/below']) {
      const line = ['order', 'https://e.com/1', '--sku', 'TRANS14', '--download', folder];
      expect((await user.run(line)).code).toBe(2);
      expect((await user.run(['wait', '1', '--download', folder])).code).toBe(2);
      expect((await user.run(['sync', '--download', folder])).code).toBe(2);
    }
    expect(service.got).toEqual([]);
  });

  it('of a file without a title goes by its id, and several formats need {ext}', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'words' }).on('GET /audiofile/5', fileAnswer(5, 'Delivered', '  '));
    const { stdout } = await user.run(['transcript', '5', '--name-as', '{title}.{ext}', '--quiet']);
    expect(stdout).toBe('5.txt\n');
    const clash = await user.run(['transcript', '5', '--name-as', '{id}', '--format', 'txt,srt']);
    expect([clash.code, clash.stderr]).toEqual([2, expect.stringContaining('{ext}')]);
  });
});
