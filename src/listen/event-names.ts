import { eventTypes } from '../catalog/events.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/suggest.ts';

const known = eventTypes.map(({ name }) => name);

/** Event names as the API document spells them; another one is refused unless `isAllowed` says that it may come. */
export function eventNames(given: readonly string[], isAllowed: (name: string) => boolean): string[] {
  return given.map((name) => {
    const listed = known.find((each) => each === name.toUpperCase());
    if (listed === undefined && !isAllowed(name))
      throw usage(`unknown event '${name}'`, didYouMean(name, known, `the events are ${known.join(', ')}`));
    return listed ?? name;
  });
}
