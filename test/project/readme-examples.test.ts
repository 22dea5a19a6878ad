/** The README's examples with the build of this folder; on every Node, test/nodes pastes them into the package. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocks, Reader } from '../support/readme.ts';
import { examples, outcomes, pasteExamples, repeated, saidExits } from '../support/readme-tasks.ts';
import { isLong, longOnly } from '../support/slices.ts';

describe('the examples, in their order', () => {
  const end = examples.findIndex(({ path }) => path !== 'README.md');
  pasteExamples(new Reader(), isLong ? examples : examples.slice(0, end));

  it('are all there', () => {
    expect(examples.length).toBeGreaterThan(15);
    expect(examples.flatMap(({ text }) => repeated(text)).length).toBeGreaterThan(2);
    expect(examples.flatMap(({ text }) => saidExits(text)).length).toBeGreaterThan(2);
    const headings = examples.map(({ heading }) => heading);
    expect(Object.keys(outcomes).filter((heading) => !headings.includes(heading))).toEqual([]);
  });
});

describe('other examples', () => {
  longOnly(
    'of cron fetch what is new, and are silent when nothing is',
    async () => {
      const line = blocks.find(({ mark }) => mark === 'cron')?.text ?? '';
      const command = line.replace(/^(\S+ ){5}/, '').replace('steno sync', 'steno --sandbox sync');
      const other = new Reader();
      const terminal = other.terminal();
      await terminal.paste(
        'mkdir Dropbox; steno --sandbox order https://example.com/talk.mp3 --sku TRANS14 --wait',
      );
      const sync = await terminal.paste(command);
      expect(sync).toMatchObject({ failures: [], stderr: '' });
      expect(sync.stdout.trim().split('\n')).toHaveLength(2);
      for (const folder of ['transcripts', 'Dropbox'])
        expect(readdirSync(join(other.work, folder)).sort()).toEqual(['1001.docx', '1001.txt']);
      expect(await terminal.paste(command)).toMatchObject({ failures: [], stdout: '', stderr: '' });
      terminal.close();
    },
    60_000,
  );
});
