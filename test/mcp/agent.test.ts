/** The job of an assistant: it finds a quote and its time in the sandbox's transcripts, and can't spend a cent. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistant, betweenMarks, MANY_MS, revisions } from '../support/mcp.ts';
import { User } from '../support/steno.ts';

/** Runs the program against the sandbox, and gives its JSON. */
async function sandbox(user: User, ...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await user.run(['--sandbox', ...args, '--json']);
  expect([args, code, stderr]).toEqual([args, 0, expect.anything()]);
  return JSON.parse(stdout);
}

describe.each(revisions)('an assistant with revision %s', (revision) => {
  it(
    'finds a quote and its time, and can not spend a cent',
    async () => {
      const user = new User();
      await sandbox(
        user,
        'order',
        'https://example.com/a.mp3',
        'https://example.com/b.mp3',
        '--sku',
        'TRANS14',
      );
      await sandbox(user, 'sandbox', 'advance', '--by', '20d');
      await sandbox(user, 'sync', '--download', 'talks', '--format', 'vtt');
      const money = async () => {
        const { balance } = (await sandbox(user, 'balance')) as { balance: number };
        const orders = (await sandbox(user, 'log')) as Array<{ order: string; cost: unknown }>;
        const files = (await sandbox(user, 'files')) as Array<{ audiofile: string; state: string }>;
        return {
          balance,
          orders: orders.map(({ order }) => order),
          files: files.map(({ audiofile, state }) => [audiofile, state]),
        };
      };
      const before = await money();
      expect([before.orders.length, before.files.length]).toEqual([1, 2]);

      const asked: string[] = [];
      const opened = await assistant(user, ['--sandbox', 'mcp'], {
        revision,
        answer: ({ message }) => {
          asked.push(message);
          return { action: 'accept', content: { order: true } };
        },
      });
      // Where was that said about mint?
      const { result } = await opened.call('search', { words: ['planted', 'mint'] });
      const hits = result as Array<{ audiofile: string; start: number; text: string }>;
      const { audiofile: id = '', start = 0, text: quote = '' } = hits[0] ?? {};
      expect(quote).toContain('planted mint');
      const at = new Date(start * 1000).toISOString().slice(11, 23);
      const captions = readFileSync(join(user.home, 'talks', `${id}.vtt`), 'utf8');
      const cue = captions.split('\n\n').find((each) => each.includes(`${at} --> `)) ?? '';
      expect(cue.replaceAll('\n', ' ')).toContain(quote.split(' ').slice(0, 3).join(' '));
      const { text } = await opened.call('transcript', { id });
      expect(text).toMatch(
        /^Untrusted content: .*\nTranscript 100\d, characters 0 to \d+ of \d+; this is the end\n/,
      );
      expect(betweenMarks(text)).toMatch(
        new RegExp(`^\\[${at.slice(0, 8)}\\] .*${quote.split(' ')[0]}`, 'm'),
      );

      const { tools } = await opened.client.listTools();
      const order = { urls: ['https://example.com/c.mp3'], minutes: [1], sku: ['TRANS14'] };
      await expect(opened.call('order', order)).rejects.toThrow('not found');
      for (const { name } of tools)
        for (const args of [
          {},
          order,
          { ids: ['1001'] },
          { id: '1001' },
          { words: ['order'] },
          { yes: true },
        ])
          await opened.call(name, args);
      expect(asked).toEqual([]);
      expect(await money()).toEqual(before);
    },
    MANY_MS,
  );
});

describe('the topic of assistants', () => {
  const section = readFileSync('src/help/assistants.md', 'utf8');

  it(
    'shows for three assistants how to start a server that answers',
    async () => {
      const lines = [...section.matchAll(/`claude mcp add steno -- (.*?)`/g)].map(([, line = '']) =>
        line.split(' '),
      );
      for (const [, text = ''] of section.matchAll(/`(\{.*?\})`/g)) {
        const { mcpServers, servers } = JSON.parse(text) as Record<string, Record<string, Started>>;
        for (const { command, args } of Object.values({ ...mcpServers, ...servers }))
          lines.push([command, ...args]);
      }
      expect(lines).toHaveLength(3);
      for (const [program, ...args] of lines) {
        expect(program).toBe('steno');
        const { client } = await assistant(new User(), args);
        expect((await client.listTools()).tools.length).toBeGreaterThanOrEqual(10);
      }
    },
    MANY_MS,
  );
});

interface Started {
  readonly command: string;
  readonly args: readonly string[];
}
