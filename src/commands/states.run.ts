import type { Context } from '../cli/context.ts';
import { statesView } from '../views/catalog.ts';

export const run = (context: Context): Promise<void> => context.out.show(statesView());
