/** The schema of a report. */
import type { RecordColumn } from '../record.ts';
import {
  arrayOf,
  described,
  integer,
  maybeInteger,
  maybeNumber,
  maybeText,
  maybeTime,
  number,
  object,
  oneOf,
  type Schema,
  text,
  time,
} from '../schema.ts';

const spend = {
  currency: described('null where the invoices name none', maybeText),
  spent: described('billed and paid, less what was refunded', number),
  refunded: number,
  unpaid: described('billed, and not paid yet', number),
  estimated: described('what is not billed yet, by estimate, as far as that is known', number),
  unbilled: described('how many purchases are not billed yet', integer),
  minutes: described('of what was billed', number),
  files: described('that were billed', integer),
  unmeasured: described('files that are not in the minutes: their length is not known', integer),
};

const spendBy = (name: string): Schema =>
  arrayOf(object({ [name]: described('null where it is not known', maybeText), ...spend }));

export const reportSchema: Schema = object({
  made_at: time,
  since: maybeTime,
  until: maybeTime,
  counts: object({ delivered: integer, open: integer, held: integer, unclear: integer, late: integer }),
  totals: described('one for each currency', arrayOf(object(spend))),
  months: spendBy('month'),
  skus: spendBy('sku'),
  orders: spendBy('order'),
  feeds: described('empty where no file has one', spendBy('feed')),
  tags: described('a file counts for each of its tags; empty where no file has one', spendBy('tag')),
  turnaround: arrayOf(
    object({
      sku: maybeText,
      target_days: maybeNumber,
      delivered: integer,
      on_time: integer,
      late: integer,
      median_seconds: maybeNumber,
      slowest_seconds: maybeNumber,
      unmeasured: integer,
    }),
  ),
  waiting: arrayOf(
    object({
      kind: oneOf('open', 'held', 'unclear'),
      audiofile: maybeText,
      attempt: described('of an order without a known end', maybeInteger),
      title: maybeText,
      order: maybeText,
      skus: arrayOf(text),
      state: maybeText,
      ordered_at: maybeTime,
      due_at: maybeTime,
      late_seconds: number,
      url: described('of the audio, without signatures', maybeText),
    }),
  ),
  notes: described('what the sums leave out', arrayOf(text)),
});

const help: Readonly<Record<string, string>> = {
  part: 'total, month, sku, order, turnaround, open, held or unclear',
  name: 'the month, SKU, order, audiofile or attempt',
  currency: 'of the amounts',
  spent: 'billed and paid, less refunds',
  refunded: 'what came back',
  unpaid: 'billed, not paid yet',
  estimated: 'not billed yet, by estimate',
  unbilled: 'purchases that are not billed yet',
  minutes: 'of audio that was billed',
  files: 'that were billed',
  unmeasured: 'files of unknown length or time',
  target_days: 'how long the SKU may take',
  delivered: 'how many',
  on_time: 'of them',
  late: 'of them',
  median_seconds: 'from order to delivery',
  slowest_seconds: 'from order to delivery',
  title: 'of the audio',
  order: 'the id of its order',
  skus: 'of its order',
  state: 'as the service names it',
  ordered_at: 'when it was ordered',
  due_at: 'when it is due',
  late_seconds: 'how late it is',
  url: 'of the audio, without signatures',
};

export const reportColumns: readonly RecordColumn[] = Object.entries(help).map(([name, text]) => ({
  name,
  help: text,
}));
