import type { Context } from '../spec/context.ts';
import { withPager } from '../ui/pager.ts';
import { skusView } from '../views/catalog.ts';

export const run = (context: Context): Promise<void> =>
  withPager(context, () => context.out.show(skusView()));
