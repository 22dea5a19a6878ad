/** A word in an ordered URL makes this happen. */
export const scenarios = [
  { word: 'hold', what: 'the order is held until `steno sandbox release <order>`' },
  {
    word: 'unpaid',
    what: 'the order is invoiced instead of prepaid: its invoice becomes SUBMITTED and is never paid',
  },
  { word: 'difficult', what: 'the service finds the audio difficult' },
  { word: 'duplicate', what: 'the file is reported as a duplicate of an earlier one' },
  { word: 'refund', what: 'the service refunds the file on its own' },
  { word: 'card-failure', what: "the account's card is declined at first; the order then continues" },
  { word: 'error', what: 'the file ends in the state Error' },
  { word: 'cancel', what: 'the file ends in the state Order Cancelled, and the money is returned' },
  { word: 'slow', what: 'the file takes twelve times as long' },
  { word: 'overdue', what: 'the file is delivered a week late; see `steno sandbox advance --by`' },
  {
    word: 'marks',
    what: 'the transcript has marked gaps, unnamed speakers and faulty captions; see `steno check`',
  },
  { word: 'unfetchable', what: 'the order is refused because the URL cannot be fetched' },
] as const;

export type Scenario = (typeof scenarios)[number]['word'];

export function scenariosOf(url: string): ReadonlySet<Scenario> {
  const text = url.toLowerCase();
  return new Set(scenarios.map(({ word }) => word).filter((word) => text.includes(word)));
}
