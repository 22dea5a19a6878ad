/** The README's examples, pasted from top to bottom by one reader: one home, one ledger, one sandbox. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Block, blocks, Reader, readme, type Shell } from '../support/readme.ts';
import { type Receiver, receive } from '../support/sandbox.ts';
import { isLong, longOnly } from '../support/slices.ts';
import { BIN } from '../support/steno.ts';
import { until } from '../support/until.ts';

const examples = blocks.filter(({ language, mark }) => language === 'sh' && (mark === 'run' || mark === ''));
const reader = new Reader();
const inWork = (...path: string[]): string => join(reader.work, ...path);

let shell: Shell;
let first: { readonly terminal: Shell; readonly ended: ReturnType<Shell['paste']> } | undefined;
let slack: Receiver;

const cleanUps: Array<() => void | Promise<void>> = [];
beforeAll(async () => {
  shell = reader.terminal();
  slack = await receive(200, (work) => cleanUps.push(work));
});
afterAll(async () => {
  shell?.close();
  first?.terminal.close();
  for (const work of cleanUps) await work();
});

/** What can't be reached from here has a stand-in on this machine. */
const withStandIns = (text: string): string =>
  text
    .replace(/https:\/\/hooks\.slack\.com\S*/, slack.url)
    .replaceAll('4141', String(20_000 + (process.pid % 20_000)));

/** `… || echo "exit $?"   # 9: it is the same audio` */
const saidExits = (text: string): string[] =>
  [...text.matchAll(/\|\| echo "exit \$\?"\s+# (\d+):/g)].map(([, code = '']) => `exit ${code}`);

/** `steno sync …   # again: nothing is new` */
const repeated = (text: string): string[] =>
  text.split('\n').filter((line) => /# .*\bagain: nothing/.test(line));

async function run({ text, details }: Block): Promise<void> {
  if (details === 'first terminal') {
    const terminal = reader.terminal();
    const { ended, stderr } = terminal.start(withStandIns(text));
    first = { terminal, ended };
    await until(
      () => /^listening on/m.test(stderr()),
      () => `a listener: ${stderr()}`,
    );
    return;
  }
  const { failures, stdout, stderr } = await shell.paste(withStandIns(text));
  expect(failures, `${text}\n${stdout}\n${stderr}`).toEqual([]);
  expect(stdout.match(/^exit \d+$/gm) ?? []).toEqual(saidExits(text));
  for (const line of repeated(text))
    expect(await shell.paste(line)).toMatchObject({ failures: [], stdout: '' });
  if (details === 'second terminal')
    expect(await first?.ended, 'the first terminal').toMatchObject({ failures: [] });
}

/** What a reader finds after the blocks of a heading. */
const outcomes: Readonly<Record<string, () => void>> = {
  'Install and try': () => expect(readFileSync(inWork('1001.txt'), 'utf8')).toContain('example.com/talk.mp3'),
  Download: () => {
    expect(readdirSync(inWork('out')).sort()).toEqual(['1002.docx', '1002.srt', '1003.docx', '1003.srt']);
    expect(
      readdirSync(inWork('transcripts')).filter((name) => name.endsWith('.docx')).length,
    ).toBeGreaterThan(5);
  },
  'Receive events': () => expect(readdirSync(inWork('inbox'))).toHaveLength(1),
  'Post to Slack': () => {
    const [message] = slack.requests.map(({ body }) => JSON.parse(body) as { text: string });
    expect(message?.text).toMatch(/^File \d+ is ready: https:\/\/example\.com\/lecture\.mp3$/);
  },
  'Order new podcast episodes': () =>
    expect(readdirSync(inWork('episodes')).sort()).toEqual([
      '2026-10-23 The bridge that sings.txt',
      '2026-10-30 How bees find their way home.txt',
    ]),
  'Search, check and publish': () => {
    expect(readdirSync(inWork('public')).sort()).toEqual([
      'Spring.json',
      'Spring.md',
      'Spring.srt',
      'Spring.vtt',
    ]);
    expect(readFileSync(inWork('public/Spring.srt'), 'utf8')).toMatch(/^Grace: \S/m);
    expect(readFileSync(inWork('new.xml'), 'utf8').match(/<podcast:transcript /g)).toHaveLength(3);
  },
  'Control the cost': () => expect(existsSync(inWork('report.html'))).toBe(true),
};

describe('the examples, in their order', () => {
  /** Each needs what those before it have ordered, so that a slice is a beginning. */
  const end = examples.findIndex(({ heading }) => heading === 'Follow');

  it.each(isLong ? examples : examples.slice(0, end))(
    'line $line: $heading',
    async (block) => {
      await run(block);
      const isLastOf = examples.filter(({ heading }) => heading === block.heading).at(-1) === block;
      if (isLastOf) outcomes[block.heading]?.();
    },
    120_000,
  );

  it('are all there', () => {
    expect(examples.length).toBeGreaterThan(15);
    expect(examples.flatMap(({ text }) => repeated(text)).length).toBeGreaterThan(2);
    expect(examples.flatMap(({ text }) => saidExits(text)).length).toBeGreaterThan(2);
    const headings = examples.map(({ heading }) => heading);
    expect(Object.keys(outcomes).filter((heading) => !headings.includes(heading))).toEqual([]);
  });
});

describe('other examples', () => {
  it('from a clone, without installing, give a transcript', async () => {
    const other = new Reader();
    const terminal = other.terminal();
    const [, order = ''] = blocks[0]?.text.split('\n') ?? [];
    expect(order).toMatch(/^steno --sandbox order \S+ --sku \w+ --wait --download \.$/);
    expect(readme).toContain('replace `steno` with `./bin/steno.js`');
    const { failures, stderr } = await terminal.paste(order.replace('steno', BIN));
    terminal.close();
    expect(failures, stderr).toEqual([]);
    expect(readFileSync(join(other.work, '1001.txt'), 'utf8')).toContain('https://example.com/talk.mp3');
  }, 60_000);

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
