/** `steno help agents` and the skill in the package: one text, true to the specs, whose lines all run in the sandbox. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { skillText } from '../../src/cli/docs.ts';
import { helpText } from '../../src/cli/help.ts';
import { exitCodes } from '../../src/lib/errors.ts';
import { runnables } from '../../src/spec/command-index.ts';
import { longName } from '../../src/spec/options.ts';
import { groups } from '../support/commands.ts';
import { Reader } from '../support/readme.ts';
import { topicBlocks } from '../support/topics.ts';

const page = helpText(['agents'], 80, groups);
const skill = skillText();
const lines = topicBlocks('agents').flatMap((block) => block.split('\n'));

/** What the page says after the name of an effect, up to the next one. */
const ofEffect = (effect: string): string =>
  (new RegExp(`^ {2}${effect} [\\s\\S]*?(?=^ {2}\\w|^$)`, 'm').exec(page)?.[0] ?? '').replace(/\s+/g, ' ');

/** Without markup, the layout of a terminal, and front matter. */
const words = (text: string): string[] =>
  text
    .replace(/^---\n[\s\S]*?\n---\n+# steno\n/, '')
    .replace(/^```(sh)?$/gm, '')
    .replace(/^## (.*)$/gm, '$1:')
    .replace(/^- (\*\*|`)(.*?)\1:/gm, '$2')
    .replaceAll('`', '')
    .split(/\s+/)
    .filter(Boolean);

describe('the page for agents', () => {
  it('fits in 80 lines', () => {
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });

  it('names every command and every flag under the effect that it has', () => {
    for (const { path, spec } of runnables(groups)) {
      expect(ofEffect(spec.effect ?? 'read'), path).toMatch(new RegExp(`[:,] ${path}(?=[,; ]|$)`));
      for (const option of Object.values(spec.options ?? {}))
        if (option.effect) expect(ofEffect(option.effect), path).toContain(longName(option));
    }
  });

  it('has every exit code, and says of 11: stop and ask', () => {
    for (const [name, { code }] of Object.entries(exitCodes))
      expect(page).toMatch(new RegExp(`^ {2}${code} ${name} +\\S`, 'm'));
    expect(page).toMatch(/^ {2}11 uncertain +STOP AND ASK: /m);
  });

  it('is the skill of the package, word for word', () => {
    expect(words(skill)).toEqual(words(page));
    expect(readFileSync('dist/SKILL.md', 'utf8')).toBe(skill);
  });

  it('has the front matter that agents load', () => {
    const [, name = '', description = ''] =
      /^---\nname: ([a-z-]{1,64})\ndescription: (\S[^\n]*)\n---\n/.exec(skill) ?? [];
    expect(name).toBe('steno');
    expect(description).toMatch(/Use it when/);
    expect(description.length).toBeLessThanOrEqual(1024);
    // A plain scalar of YAML.
    expect(description).not.toMatch(/: | #|^[-?:,[\]{}#&*!|>'"%@`]/);
  });

  it('has only lines that run in the sandbox, from top to bottom', async () => {
    const reader = new Reader();
    const terminal = reader.terminal();
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const { failures, stdout, stderr } = await terminal.paste(line);
      expect(failures, `${line}\n${stdout}\n${stderr}`).toEqual([]);
      const [, exit] = / \|\| echo "exit \$\?" {2}# (\d+)$/.exec(line) ?? [];
      if (exit) expect([stdout, stderr]).toEqual([`exit ${exit}\n`, expect.stringContaining('STENO_ALLOW')]);
      else if (line.startsWith('steno ') && !/config set|attempts/.test(line))
        expect(stdout, line).toMatch(/\w/);
    }
    terminal.close();
    expect(readdirSync(join(reader.work, 'transcripts'))).toEqual(['1001.vtt']);
  }, 60_000);
});
