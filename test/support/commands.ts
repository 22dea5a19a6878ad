/** All commands of the program, with what each prints. */
import { loadGroups } from '../../src/cli/registry.ts';
import { outputsOf } from '../../src/spec/command-index.ts';

export const groups = await loadGroups();

export const commands = groups.flatMap((group) => group.commands);

export const outputs = outputsOf(groups);
