import { eventTypes } from '../catalog/events.ts';
import { didYouMean } from '../lib/suggest.ts';

const known = eventTypes.map(({ name }) => name);

/** Event names as the API document spells them. One that it does not list may still be sent: it only gets a warning. */
export function eventNames(given: readonly string[], warn: (text: string, hint: string) => void): string[] {
  return given.map((name) => {
    const listed = known.find((each) => each === name.toUpperCase());
    if (!listed)
      warn(`the document lists no event '${name}'`, didYouMean(name, known, `it lists: ${known.join(', ')}`));
    return listed ?? name;
  });
}
