/** The examples of every help page: all are understood, and those that need nothing but the sandbox are run as pasted. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandPaths, findCommands } from '../../src/cli/help-page.ts';
import { parse } from '../../src/cli/main.ts';
import { commands, groups } from '../support/commands.ts';
import { inShell } from '../support/compiled-code.ts';
import { freshFolder } from '../support/files.ts';
import { sliceOf } from '../support/slices.ts';
import { BIN, finished, type Result } from '../support/steno.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
Object.assign(globalThis, { STENO_VERSION: version });

const pages = commandPaths(commands).map((path) => ({
  name: path.join(' '),
  examples: (findCommands(path, groups)?.at(-1)?.examples ?? []).map(([line]) => line),
}));

/** Why an example is not run here; other tests run most of them against a service of their own. */
const notRun: ReadonlyArray<readonly [line: RegExp, why: string]> = [
  [/steno (--sandbox )?(listen|ui|open)\b|events --follow|steno sandbox( --|$)/, 'goes on until Ctrl-C'],
  [/steno (login|logout)|config (set|unset)|--profile work/, 'needs settings of its own, or a service'],
  [/ledger (copy|migrate|account)|doctor/, 'needs a shared ledger, or another machine'],
  [/https:\/\/example\.com\/feed\.xml|127\.0\.0\.1:3000/, 'needs the network'],
  [/attempts settle/, 'needs an order without an answer'],
  [/Out-String|completion (un)?install/, 'needs another shell, or changes this one'],
  [/refund (?!.*--yes)|ledger prune (?!.*--(yes|dry-run))/, 'asks on a terminal'],
  [/sandbox (reset|release)/, 'would take away what the others need'],
];

const runnable = pages.flatMap(({ name, examples }) =>
  examples.filter((line) => !notRun.some(([pattern]) => pattern.test(line))).map((line) => ({ name, line })),
);

/** The words of the part that is ours, before a pipe or a redirection. */
function wordsOf(line: string): string[] {
  const [, ours = ''] = /(?:^|xargs |[(|] ?)steno (.*?)\)?$/.exec(line) ?? [];
  const words = [...ours.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => ({ quoted, bare }));
  const end = words.findIndex(({ bare }) => /^([|<>]|\|\||&&)$/.test(bare));
  return words.slice(0, end < 0 ? undefined : end).map(({ quoted, bare }) => quoted ?? bare);
}

describe.each(pages)('the examples of $name', ({ name, examples }) => {
  it('are understood, and use the command', async () => {
    for (const line of examples) {
      const words = wordsOf(line);
      expect(words, line).not.toEqual([]);
      await expect(parse(words), line).resolves.toBeDefined();
    }
    const used = new RegExp(`\\bsteno (--sandbox )?${name.replace(/^files$/, '(files|ls)')}\\b`);
    expect(examples.some((line) => used.test(line))).toBe(true);
  });
});

describe('in the sandbox', () => {
  const folder = freshFolder();
  const home = join(folder, 'home');
  const tools = join(folder, 'bin');
  const ids: Record<string, string> = {};

  function bash(script: string): Promise<Result> {
    const child = spawn('bash', ['-o', 'pipefail', '-c', script], {
      cwd: folder,
      env: {
        PATH: [tools, dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: home,
        STENO_PROFILE: 'sandbox',
        ...inShell,
      },
    });
    child.stdin.end();
    return finished(child);
  }

  const ok = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await bash(script);
    expect(code, `${script}\n${stdout}\n${stderr}`).toBe(0);
    return stdout.trim();
  };

  beforeAll(async () => {
    const folders = [
      'bin',
      'captions',
      'posts',
      'home/.zfunc',
      'home/.config/fish/completions',
      'public',
      'raw',
      'recordings',
      'transcripts',
    ];
    for (const path of folders) mkdirSync(join(folder, path), { recursive: true });
    symlinkSync(BIN, join(tools, 'steno'));
    writeFileSync(join(folder, 'talks.csv'), 'url,sku\nhttps://example.com/listed.mp3,TRANS14\n');
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const audio = '<enclosure url="https://example.com/episode.mp3" type="audio/mpeg"/>';
    const item = `<item><title>One</title><guid>one</guid><itunes:duration>60</itunes:duration><pubDate>${date}</pubDate>${audio}</item>`;
    const channel = `<channel xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><title>Talks</title>${item}</channel>`;
    writeFileSync(join(folder, 'feed.xml'), `<rss version="2.0">${channel}</rss>`);
    writeFileSync(join(folder, 'recordings', 'call.mp3'), randomBytes(100_000));
    await ok(`steno config set upload-command ': "$1"; echo https://example.com/call.mp3'`);
    const waits = 'order https://example.com/one.mp3 https://example.com/two.mp3 --sku TRANS14 --wait';
    const [one = '', two = ''] = (
      await ok(`steno listen --port 0 --register --count 2 --timeout 60s > events.txt 2> log.txt &
      until grep -q 'listening on' log.txt; do sleep 0.1; done
      steno ${waits} --quiet; wait`)
    ).split('\n');
    const known = JSON.parse(await ok(`steno file ${one} ${two} --json`)) as Array<Record<string, unknown>>;
    const listed = JSON.parse(await ok('steno files --json')) as Array<{ order: string; invoices: string[] }>;
    expect(known).toHaveLength(2);
    const order = listed[0]?.order ?? '';
    const invoice = listed[0]?.invoices[0] ?? '';
    const event = await ok('steno events --quiet | tail -1');
    Object.assign(ids, {
      said: one,
      12345: one,
      12346: two,
      '4nX': order,
      777: invoice,
      778: invoice,
      12: event,
      13: event,
    });
    writeFileSync(join(folder, 'ids.txt'), `${one}\n${two}\n`);
    writeFileSync(join(folder, 'files.csv'), `audiofile,title\n${one},One\n${two},Two\n`);
    for (const path of ['article.md', 'posts/one.md'])
      writeFileSync(join(folder, path), 'They said: "We had more thyme than we could carry."\n');
    await ok(`steno transcript ${one} -o said/
      printf '\\nAda: We had more thyme than we could carry.\\n' >> said/${one}.txt`);
    writeFileSync(join(folder, 'upload.sh'), 'test -s "$STENO_EVENT_PATH"\n');
    writeFileSync(join(folder, 'talk.tstxt'), '[00:00:01] Ada: Good morning.\n');
    writeFileSync(join(folder, 'corrected.txt'), 'Ada: Good morning.\n');
    writeFileSync(
      join(folder, 'raw', 'talk.vtt'),
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nGood morning.\n',
    );
    writeFileSync(join(folder, 'whisper.srt'), '1\n00:00:01,000 --> 00:00:02,000\nGood morning.\n');
  }, 120_000);

  /** What an example needs besides, made just before it runs. */
  async function prepare(line: string): Promise<void> {
    // What is delivered can neither be upgraded nor refunded.
    const isChange = /upgrade|refund/.test(line);
    if (isChange) {
      ids[12345] = await ok(`steno order https://example.com/slow.mp3 --again --sku TRANS14 --quiet`);
      writeFileSync(join(folder, 'ids.txt'), `${ids[12345]}\n`);
    }
    // An export replaces none that is there, and an import requires one.
    if (/ledger (im|ex)port/.test(line)) await ok('rm -f ledger.jsonl');
    if (line.includes('ledger import'))
      await ok('steno ledger export -o ledger.jsonl && gzip -c ledger.jsonl > ledger.gz');
    // What is new has nothing to look at: its speakers have names.
    if (line.includes('steno check'))
      await ok(`steno check > checked.txt 2>&1 || true
        steno transcript ${ids[12345]} --format vtt,srt --force -o transcripts/
        sed -i 's/Speaker 1/Ada/; s/Speaker 2/Bob/' transcripts/*.vtt transcripts/*.srt
        cp transcripts/${ids[12345]}.vtt talk.vtt && cp talk.vtt captions/`);
    // Only the transcript with the added line says it.
    if (line.includes('steno quote')) await ok(`find . -name '*${ids.said}.*' -not -path './said/*' -delete`);
    if (line.includes('convert 12345'))
      await ok(`steno transcript ${ids[12345]} --format vtt --skip-existing`);
    if (line.includes('webhook test')) await ok('steno webhook set https://example.com/hook');
  }

  it.each(sliceOf(runnable, 3))(
    '$name: $line',
    async ({ line }) => {
      await prepare(line);
      const pasted = line.replace(/\b(12345|12346|4nX|777|778|12|13)\b/g, (word) => ids[word] ?? word);
      const { code, stdout, stderr } = await bash(pasted);
      expect(code, `${pasted}\n${stdout}\n${stderr}`).toBe(0);
      // It would hold for the orders of other examples.
      if (line.includes('budget set')) await ok('steno budget unset');
    },
    60_000,
  );
});
