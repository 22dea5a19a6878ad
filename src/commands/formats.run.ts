import type { Context } from '../spec/context.ts';
import { withPager } from '../ui/pager.ts';
import { formatsView } from '../views/catalog.ts';

export const run = (context: Context): Promise<void> =>
  withPager(context, () => context.out.show(formatsView()));
