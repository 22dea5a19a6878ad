/** The README's examples, pasted from top to bottom by one reader: one home, one ledger, one sandbox. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Block, blocks, type Reader, type Shell } from './readme.ts';
import { type Receiver, receive } from './sandbox.ts';
import { until } from './until.ts';

export const examples: readonly Block[] = blocks.filter(
  ({ language, mark }) => language === 'sh' && (mark === 'run' || mark === ''),
);

/** `… || echo "exit $?"   # 9: it is the same audio` */
export const saidExits = (text: string): string[] =>
  [...text.matchAll(/\|\| echo "exit \$\?"\s+# (\d+):/g)].map(([, code = '']) => `exit ${code}`);

/** `steno sync …   # again: nothing is new` */
export const repeated = (text: string): string[] =>
  text.split('\n').filter((line) => /# .*\bagain: nothing/.test(line));

/** What a reader finds after the blocks of a heading. */
export const outcomes: Readonly<
  Record<string, (inWork: (...path: string[]) => string, slack: Receiver) => void>
> = {
  steno: (inWork) => expect(readFileSync(inWork('1001.txt'), 'utf8')).toContain('example.com/talk.mp3'),
  Download: (inWork) => {
    expect(readdirSync(inWork('out')).sort()).toEqual(['1002.docx', '1002.srt', '1003.docx', '1003.srt']);
    expect(
      readdirSync(inWork('transcripts')).filter((name) => name.endsWith('.docx')).length,
    ).toBeGreaterThan(5);
  },
  'Receive events': (inWork) => expect(readdirSync(inWork('inbox'))).toHaveLength(1),
  'Post to Slack': (_, slack) => {
    const [message] = slack.requests.map(({ body }) => JSON.parse(body) as { text: string });
    expect(message?.text).toMatch(/^File \d+ is ready: https:\/\/example\.com\/\w+\.mp3$/);
  },
  'Order new podcast episodes': (inWork) =>
    expect(readdirSync(inWork('episodes')).sort()).toEqual([
      '2026-10-23 The bridge that sings.txt',
      '2026-10-30 How bees find their way home.txt',
    ]),
  'Search, check and publish': (inWork) => {
    expect(readdirSync(inWork('public')).sort()).toEqual([
      'Spring.json',
      'Spring.md',
      'Spring.srt',
      'Spring.vtt',
    ]);
    expect(readFileSync(inWork('public/Spring.srt'), 'utf8')).toMatch(/^Grace: \S/m);
    expect(readFileSync(inWork('new.xml'), 'utf8').match(/<podcast:transcript /g)).toHaveLength(3);
  },
  'Estimate, limit, report': (inWork) => expect(existsSync(inWork('report.html'))).toBe(true),
};

/** A test for each of these blocks, which are the first ones: each needs what those before it have ordered. */
export function pasteExamples(reader: Reader, chosen: readonly Block[]): void {
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
      // Two readers at once can't share the ports.
      .replaceAll('steno listen', 'steno listen --port 0')
      .replaceAll('4141', String(20_000 + (process.pid % 20_000)));

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

  it.each(chosen)(
    '$path:$line: $heading',
    async (block) => {
      await run(block);
      const isLastOf =
        examples.filter(({ path, heading }) => path === block.path && heading === block.heading).at(-1) ===
        block;
      if (isLastOf) outcomes[block.heading]?.(inWork, slack);
    },
    120_000,
  );
}
