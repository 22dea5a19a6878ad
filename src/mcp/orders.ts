/** The tool that buys: it asks the person, and only a yes to exactly this order sends it. */
import { randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { usage } from '../lib/errors.ts';
import { isObject } from '../lib/json.ts';
import { amountText, compareAmounts, type Money, moneyText } from '../lib/money.ts';
import { hasHidden, oneLine, plural } from '../lib/text.ts';
import type { Children } from './children.ts';
import { type Answer, plainOf, resultOf, saidBy } from './results.ts';
import { orderInput, orderLine, type Wanted } from './tools.ts';

/** How long a person may take to answer. */
const ANSWER_LIMIT_MS = 600_000;
/** How much of a URL a question shows. */
const MAX_URL = 400;

/** What is used of the JSON of `order --dry-run`. */
interface Plan {
  readonly orders: ReadonlyArray<{ readonly audios: ReadonlyArray<{ url: string; minutes: number | null }> }>;
  readonly estimate: { readonly low: number | null; readonly high: number | null; currency: string | null };
  readonly left_out: readonly unknown[];
}

export class Orders {
  readonly #children: Children;
  readonly #maxCost: Money;
  /** Orders that a person has not answered to, by the id of the question, and what they may cost. A client can't guess one. */
  readonly #asked = new Map<string, { readonly order: string; readonly limit: string }>();

  constructor(children: Children, maxCost: Money) {
    this.#children = children;
    this.#maxCost = maxCost;
  }

  async order(values: object, { mcpReq }: ServerContext, atStart: ClientCapabilities = {}): Promise<Answer> {
    const wanted = orderInput.parse(values);
    const id = mcpReq.requestState<string>();
    if (id === undefined) {
      const ofRequest = new Map(Object.entries(mcpReq.envelope ?? {})).get(CLIENT_CAPABILITIES_META_KEY);
      const { elicitation } = (ofRequest ?? atStart) as ClientCapabilities;
      if (!elicitation) throw usage("this client can't ask the person; nothing was ordered");
      return this.#ask(wanted, mcpReq.signal);
    }
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked?.order !== JSON.stringify(wanted))
      throw usage('the person was not asked this, or has answered already; nothing more was ordered');
    const answer = inputResponse(mcpReq.inputResponses, 'order');
    const isYes = answer.kind === 'elicit' && answer.action === 'accept' && answer.content?.order === true;
    if (!isYes) throw usage('the person did not say yes; nothing was ordered');
    // What the person agreed to is the limit: a price may have changed since.
    const line = orderLine(wanted, ['--or-existing', `--max-cost=${asked.limit}`]);
    return resultOf(saidBy(await this.#children.run(line, mcpReq.signal, 'money')), true);
  }

  async #ask(wanted: Wanted, signal: AbortSignal): Promise<Answer> {
    if ([...wanted.urls, ...wanted.sku, wanted.notes ?? ''].some(hasHidden))
      throw usage('a text has an invisible character, which the person could not see; nothing was ordered');
    const limit = `--max-cost=${moneyText(this.#maxCost)}`;
    const line = orderLine(wanted, ['--or-existing', limit, '--dry-run']);
    const said = saidBy(await this.#children.run(line, signal));
    if (!isObject(said.result) || said.error !== undefined)
      return resultOf({ ...said, result: undefined }, true);
    const plan = plainOf(said.result) as Plan;
    const fits = (compareAmounts(String(plan.estimate.high), amountText(this.#maxCost.amount)) ?? 1) <= 0;
    if (plan.orders.length === 0) return resultOf({ ...said, result: said.result.get('left_out') });
    if (!fits) {
      // The last warning is why the order would be refused.
      const [why] = said.warnings.slice(-1).map(plainOf) as Array<{ message: string; hint?: string }>;
      throw usage(why?.message.replace('--max-cost', 'the limit of') ?? 'the cost is too high or unknown');
    }
    const id = randomUUID();
    this.#asked.set(id, { order: JSON.stringify(wanted), limit: String(plan.estimate.high) });
    setTimeout(() => this.#asked.delete(id), ANSWER_LIMIT_MS).unref();
    const order = { type: 'boolean', title: 'Place this order', default: false } as const;
    return inputRequired({
      inputRequests: {
        order: inputRequired.elicit({
          message: questionOf(wanted, plan, moneyText(this.#maxCost)),
          requestedSchema: { type: 'object', properties: { order }, required: ['order'] },
        }),
      },
      requestState: id,
    });
  }
}

/** Two URLs that differ at their ends look different. */
const middleCut = (url: string): string =>
  url.length <= MAX_URL ? url : `${url.slice(0, MAX_URL / 2)} … ${url.slice(-MAX_URL / 2)}`;

/** Each text stays on its line, so that it can't pretend to be another one, and a host shows its real letters. */
function questionOf({ sku, notes }: Wanted, { orders, estimate, left_out }: Plan, most: string): string {
  const audios = orders.flatMap((order) => order.audios);
  const { low, high, currency } = estimate;
  const range = low === high ? high : `${low} to ${high}`;
  const lines = [
    `Order the transcription of ${plural(audios.length, 'recording')} with ${sku.join(', ')}?`,
    `Estimated cost: ${range}${currency ? ` ${currency}` : ''} (limit: ${most}), if these lengths are right:`,
    ...audios.map(
      ({ url, minutes }) => `- ${middleCut(new URL(url).href)} (${minutes} min, says the assistant)`,
    ),
    left_out.length ? `${plural(left_out.length, 'recording')} ordered before: not bought again` : '',
    notes ? `Notes for the transcribers: ${notes}` : '',
  ];
  return lines.flatMap((line) => (line ? [oneLine(line)] : [])).join('\n');
}
