import type { Context } from '../spec/context.ts';
import { commandsView } from '../views/command-index.ts';
import { outputs } from '../views/outputs.ts';

export async function run({ out, commandTree }: Context): Promise<void> {
  const index = (await commandTree()).entries?.() ?? { commands: [], globals: [] };
  await out.show(commandsView(index, (path) => path in outputs));
}
