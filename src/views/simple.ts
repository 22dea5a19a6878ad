/** Views of results that are one value or one message. */
import type { Balance } from '../api/balance.ts';
import type { FileChange } from '../api/files.ts';
import type { Webhook } from '../api/webhook.ts';
import { shownWebhook } from '../lib/shown-webhook.ts';
import type { View } from '../lib/view.ts';
import { amountWithCurrency } from './amounts.ts';

/** The API document calls it dollars. */
const BALANCE_CURRENCY = 'USD';

export const balanceView = ({ balance, json }: Balance, forPeople: boolean): View => ({
  json,
  columns: [{ name: 'balance', kind: 'amount' }],
  rows: [[forPeople ? amountWithCurrency(balance, BALANCE_CURRENCY) : balance]],
  quiet: [balance],
});

export const doneView = ({ id, message, json }: FileChange): View => ({
  json,
  columns: [{ name: 'audiofile', kind: 'id' }, { name: 'message' }],
  rows: [[id, message]],
  quiet: [id],
});

/** The service's own answer is exact in JSON; what is ours shows no secret. */
export const webhookView = ({ url, json }: Webhook): View => ({
  json,
  columns: [{ name: 'url', kind: 'link' }],
  rows: url ? [[shownWebhook(url)]] : [],
  quiet: url ? [shownWebhook(url)] : [],
  // The URL is all there is to see, so that it is never cut.
  asRecord: true,
});
