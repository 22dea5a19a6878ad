/** Which transcripts are on this disk: as the ledger notes them, and as arguments name them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mostPrecise, transcriptsOf, transcriptsOnDisk } from '../../../src/flows/transcripts/on-disk.ts';
import { Downloads } from '../../../src/ledger/downloads.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { freshFolder } from '../../support/files.ts';
import { storeKinds } from '../../support/open-ledger.ts';

const allOf = async (...args: Parameters<typeof transcriptsOnDisk>) => {
  const found = [];
  for await (const page of transcriptsOnDisk(...args)) found.push(...page);
  return found;
};

const names = (files: ReadonlyArray<{ readonly path: string }>): string[] =>
  files.map(({ path }) => path.replace(/.*\//, ''));

/** Notes a download, later than those before; what is on the disk is a matter of its own. */
async function note(ledger: Ledger, id: string, ext: string, path: string): Promise<void> {
  await new Downloads(ledger).add(id, ext, path, { bytes: 1, sha256: '', isDraft: false });
  const noted = Date.now();
  while (Date.now() === noted) await setTimeout(1);
}

describe.each(storeKinds.filter((kind) => kind.isThere))('with a ledger $name', (kind) => {
  beforeAll(() => kind.start());
  afterAll(() => kind.stop());

  async function withDownloads(...paths: string[]) {
    const folder = freshFolder();
    const ledger = await kind.newPlace().open();
    for (const name of paths) {
      const [id = '', ext = ''] = name.split('.');
      writeFileSync(join(folder, name), 'text');
      await note(ledger, id, ext, join(folder, name));
    }
    return { ledger, folder };
  }

  it('finds what is there and can be read, of files that it was not told of too', async () => {
    const { ledger, folder } = await withDownloads('1.txt', '1.vtt', '2.rtf', '3.srt', '4.docx');
    rmSync(join(folder, '3.srt'));
    const found = await allOf(ledger);
    expect(names(found)).toEqual(['1.vtt', '1.txt', '4.docx'].map((name) => expect.stringContaining(name)));
    expect(found[0]).toMatchObject({ audiofile: '1', size: 4, title: undefined, duration: undefined });
    expect(names(mostPrecise(found))).toEqual(['1.vtt', '4.docx']);
    expect(await allOf(ledger, { files: ['4', '9'] })).toHaveLength(1);
    expect(await allOf(ledger, { since: Date.now() + 60_000 })).toEqual([]);
    expect(await allOf(ledger, { since: Date.now() - 60_000 })).toHaveLength(3);
    expect(await allOf(ledger, { order: 'o1' })).toEqual([]);
    await ledger.close();
  });

  it('goes on after one whose folder is a file now', async () => {
    const { ledger, folder } = await withDownloads('1.txt');
    writeFileSync(join(folder, 'one'), '');
    await note(ledger, '2', 'vtt', join(folder, 'one', '2.vtt'));
    expect(names(await allOf(ledger))).toEqual(['1.txt']);
    expect(await allOf(ledger, { files: ['2'] })).toEqual([]);
    await ledger.close();
  });

  it.skipIf(kind.isShared)('keeps the transcripts of a file together, on whatever page', async () => {
    const ledger = await kind.newPlace().open();
    const folder = freshFolder();
    await ledger.transaction(async (tables) => {
      for (let id = 1000; id < 1700; id += 1)
        for (const ext of ['txt', 'srt', 'vtt'])
          await new Downloads(tables).add(String(id), ext, join(folder, `${id}.${ext}`), {
            ...{ bytes: 1, sha256: '', isDraft: false },
          });
    });
    for (const id of [1000, 1665, 1666, 1667, 1699])
      for (const ext of ['txt', 'srt', 'vtt']) writeFileSync(join(folder, `${id}.${ext}`), 'text');
    const pages = [];
    for await (const page of transcriptsOnDisk(ledger)) pages.push(page);
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page.length % 3).toBe(0);
    expect(names(pages.flatMap(mostPrecise))).toEqual(
      [1000, 1665, 1666, 1667, 1699].map((id) => `${id}.vtt`),
    );
    await ledger.close();
  });

  it('knows what an argument stands for, each with an error of its own', async () => {
    const { ledger, folder } = await withDownloads('1.txt', '1.vtt');
    const [named, other, page] = ['talk.txt', 'b.srt', 'c.pdf'].map((name) => join(folder, name)) as [
      ...[string, string, string],
    ];
    for (const path of [named, other, page]) writeFileSync(path, 'text');
    mkdirSync(join(folder, 'd.vtt'));
    // What was downloaded as tstxt is that, whatever its name.
    await note(ledger, '5', 'tstxt', named);
    const gone = join(folder, 'gone.vtt');
    const outcomes = await transcriptsOf(ledger, ['1', named, other, '9', gone, page]);
    expect(outcomes.map(({ what, value, error }) => [what, value?.length, error?.message])).toEqual([
      ['1', 2, undefined],
      [named, 1, undefined],
      [other, 1, undefined],
      ['9', undefined, 'no transcript of 9 that can be read is on this disk'],
      [gone, undefined, `${gone} can't be read: there is no such file`],
      [page, undefined, `${page} is not in a format that steno reads`],
    ]);
    expect(outcomes[1]?.value?.[0]).toMatchObject({ path: named, format: 'tstxt', audiofile: '5' });
    expect(outcomes[2]?.value?.[0]).toMatchObject({ path: other, format: 'srt', downloadedAt: '' });
    expect((await transcriptsOf(undefined, [other]))[0]?.value).toHaveLength(1);
    await ledger.close();
  });
});
