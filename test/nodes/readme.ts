/** The tasks of the README, pasted into a shell that has the installed package and one of the Nodes. */
import { delimiter, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { installedTools, Reader } from '../support/readme.ts';
import { examples, pasteExamples } from '../support/readme-tasks.ts';
import { binFolder, type NodeVersion } from './node-versions.ts';

export function readmeCases(version: NodeVersion): void {
  describe(`the tasks of the README on Node ${version}`, () => {
    const program = join(inject('prefix'), 'bin', 'steno');
    const PATH = [binFolder(version), installedTools(program)].join(delimiter);
    const reader = new Reader({ PATH });

    it('run on it', async () => {
      const terminal = reader.terminal();
      const { stdout } = await terminal.paste('node --version; readlink -f "$(command -v steno)"');
      terminal.close();
      expect(stdout).toMatch(new RegExp(`^v${version}\\.`));
      expect(stdout).toContain(join(inject('prefix'), 'lib', 'node_modules', 'steno-cli'));
    });

    pasteExamples(reader, examples);
  });
}
