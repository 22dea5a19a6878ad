import type { Context } from '../cli/context.ts';
import { formatsView } from '../views/catalog.ts';

export const run = (context: Context): Promise<void> => context.out.show(formatsView());
