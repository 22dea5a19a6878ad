import { eventTypes } from '../catalog/events.ts';
import { didYouMean } from '../lib/suggest.ts';

const known = eventTypes.map(({ name }) => name);

/** Event names as the document spells them; one that it does not list may still be sent, and is taken as it is. */
export function eventNames(given: readonly string[], doubt: (text: string, hint: string) => void): string[] {
  return given.map((name) => {
    const found = known.find((each) => each === name.toUpperCase());
    if (!found)
      doubt(
        `the document lists no event '${name}'`,
        didYouMean(name, known, `it lists: ${known.join(', ')}`),
      );
    return found ?? name;
  });
}
