/** Views of results that are one value. */
import type { Balance, Webhook } from '../api/account.ts';
import { shownWebhook } from '../lib/shown-webhook.ts';
import type { View } from '../lib/view.ts';
import { amountJson, amountWithCurrency, currencyOf } from './amounts.ts';
import { answerField, RecordType, textField } from './record.ts';
import { maybeNumber } from './schema.ts';

/** The API document calls it dollars. */
const BALANCE_CURRENCY = 'USD';

export const balanceRecord = new RecordType<Balance>([
  {
    ...{ name: 'balance', help: 'what is left, to the digit', kind: 'amount', schema: maybeNumber },
    json: ({ balance }) => amountJson(balance),
    cell: ({ balance }) => balance,
  },
  textField('currency', 'of the balance', ({ balance }) => currencyOf(balance, BALANCE_CURRENCY), {
    cell: false,
  }),
  answerField(({ json }) => json),
]);

export function balanceView(found: Balance, forPeople: boolean): View {
  const { balance } = found;
  const view = balanceRecord.view([found], () => balance);
  const rows = forPeople ? [[amountWithCurrency(balance, BALANCE_CURRENCY)]] : view.rows;
  return { ...view, rows, json: balanceRecord.json(found) };
}

/** JSON has the URL as it is, so that a script can set it again; elsewhere its secrets are masked. */
export const webhookRecord = new RecordType<Webhook>([
  textField('url', "the account's webhook; null where none is set", ({ url }) => url, {
    kind: 'link',
    cell: ({ url }) => shownWebhook(url),
  }),
  answerField(({ json }) => json),
]);

export const webhookView = (webhook: Webhook): View => ({
  ...webhookRecord.view(webhook.url ? [webhook] : [], ({ url }) => shownWebhook(url)),
  json: webhookRecord.json(webhook),
  // The URL is all there is to see, so that it is never cut.
  asRecord: true,
});
