/** The rows of `npm run bench:long`: each takes minutes, all together less than an hour. */
import type { Place } from './place.ts';
import { scaleCallRows } from './scale-calls.ts';
import { scaleGrowthRows } from './scale-growth.ts';
import { scaleMemoryRows } from './scale-memory.ts';
import { searchRows } from './search.ts';
import { watchRows } from './watch.ts';
import type { WeighedRow } from './weigh.ts';

/** In the order of the tables. */
export const longRows = (place: Place, quick: boolean): WeighedRow[] => [
  ...scaleMemoryRows(place, quick),
  ...scaleGrowthRows(place, quick),
  ...scaleCallRows(place, quick),
  ...searchRows(place, quick),
  ...watchRows(place, quick),
];
