import { describe, expect, it } from 'vitest';
import { loaders } from '../../src/cli/registry.ts';
import { commands } from '../support/commands.ts';

describe('the registry of commands', () => {
  const words = commands.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));

  it('has every command under its name and its alias, and nothing else', () => {
    expect([...loaders.keys()].sort()).toEqual(words.sort());
  });

  it('loads the command that has the name', async () => {
    for (const [word, load] of loaders) {
      const spec = await load();
      expect([spec.name, spec.alias], word).toContain(word);
      expect(commands).toContain(spec);
    }
  });
});
