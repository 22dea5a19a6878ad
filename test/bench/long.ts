/** The rows of `npm run bench:long`: each takes minutes, all together less than an hour. */
import type { Place } from './place.ts';
import type { WeighedRow } from './weigh.ts';

/** In the order of the tables. */
export const longRows = (_place: Place, _quick: boolean): WeighedRow[] => [];
