import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/command-list.ts';
import { loaders } from '../../src/cli/command-loaders.ts';

describe('the loaders of commands', () => {
  const words = commands.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));

  it('are there for every command, under its name and its alias, and for nothing else', () => {
    expect([...loaders.keys()].sort()).toEqual(words.sort());
  });

  it('load the command that has the name', async () => {
    for (const [word, load] of loaders) {
      const spec = await load();
      expect([spec.name, spec.alias], word).toContain(word);
      expect(commands).toContain(spec);
    }
  });
});
