/** A word in an ordered URL makes this happen. */
export const scenarios = [
  { word: 'hold', what: 'the order is held until `steno sandbox release <order>`' },
  {
    word: 'unpaid',
    what: 'the order is invoiced instead of prepaid: its invoice becomes SUBMITTED and is never paid',
  },
  { word: 'difficult', what: 'the audio is found to be difficult on the way' },
  { word: 'duplicate', what: 'the file is taken for one that was ordered before' },
  { word: 'refund', what: 'the service refunds the file by itself' },
  { word: 'card-failure', what: "the account's card is refused at first; the order then goes on" },
  { word: 'error', what: 'the file ends in the state Error' },
  { word: 'cancel', what: 'the file ends in the state Order Cancelled, and its money comes back' },
  { word: 'slow', what: 'the file takes twelve times as long' },
  { word: 'overdue', what: 'the file is delivered a week after it is due; see `steno sandbox advance --by`' },
  { word: 'unfetchable', what: 'the order is refused, since the URL can not be fetched' },
] as const;

export type Scenario = (typeof scenarios)[number]['word'];

export function scenariosOf(url: string): ReadonlySet<Scenario> {
  const text = url.toLowerCase();
  return new Set(scenarios.map(({ word }) => word).filter((word) => text.includes(word)));
}
