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
/** What was ordered before is not bought again. */
const EXISTING = '--or-existing';

/** What is used of the JSON of `order --dry-run`. */
interface Plan {
  readonly orders: ReadonlyArray<{ readonly audios: ReadonlyArray<{ url: string; minutes: number | null }> }>;
  readonly estimate: {
    readonly low: number | null;
    readonly high: number | null;
    readonly currency: string | null;
  };
  readonly left_out: readonly unknown[];
}

interface Asked {
  readonly order: string;
  /** The most that it may cost; absent where the person types it. */
  readonly limit: string | undefined;
}

export class Orders {
  readonly #children: Children;
  readonly #maxCost: Money;
  /** The sandbox bills the lengths that it is given; the service measures its own. */
  readonly #isSandbox: boolean;
  /** Orders that a person has not answered to, by the id of the question. A client can't guess one. */
  readonly #asked = new Map<string, Asked>();

  constructor(children: Children, maxCost: Money, isSandbox: boolean) {
    this.#children = children;
    this.#maxCost = maxCost;
    this.#isSandbox = isSandbox;
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
      throw usage('this question was not asked, or was already answered; nothing more was ordered');
    const answer = inputResponse(mcpReq.inputResponses, 'order');
    const content = answer.kind === 'elicit' && answer.action === 'accept' ? answer.content : undefined;
    if (content?.order !== true) throw usage('the person did not agree; nothing was ordered');
    // What the person agreed to is the limit: a price may have changed since.
    const limit = asked.limit ?? this.#typed(content.max_cost);
    const { plan } = await this.#plan(wanted, mcpReq.signal);
    if (plan) this.#refuseAbove(plan, limit);
    // A length that only the assistant claims counts neither for a budget nor in the ledger.
    const line = this.#isSandbox
      ? orderLine(wanted, asked.limit === undefined ? [EXISTING] : [EXISTING, `--max-cost=${limit}`])
      : orderLine({ ...wanted, minutes: undefined }, [EXISTING]);
    return resultOf(saidBy(await this.#children.run(line, mcpReq.signal, 'money')), { isPurchase: true });
  }

  /** What the order would cost if the lengths are right that the assistant claims. */
  async #plan(wanted: Wanted, signal: AbortSignal) {
    const said = saidBy(await this.#children.run(orderLine(wanted, [EXISTING, '--dry-run']), signal));
    const result = said.error === undefined && isObject(said.result) ? said.result : undefined;
    return { said, result, plan: result && (plainOf(result) as Plan) };
  }

  async #ask(wanted: Wanted, signal: AbortSignal): Promise<Answer> {
    if ([...wanted.urls, ...wanted.sku, wanted.notes ?? ''].some(hasHidden))
      throw usage('a text contains an invisible character, which nobody can see; nothing was ordered');
    const { said, result, plan } = await this.#plan(wanted, signal);
    if (!plan) return resultOf({ ...said, result: undefined }, { isPurchase: true });
    if (plan.orders.length === 0) return resultOf({ ...said, result: result?.get('left_out') });
    const most = amountText(this.#maxCost.amount);
    this.#refuseAbove(plan, most);
    const { high } = plan.estimate;
    const limit = this.#isSandbox && high !== null ? String(high) : undefined;
    const id = randomUUID();
    this.#asked.set(id, { order: JSON.stringify(wanted), limit });
    setTimeout(() => this.#asked.delete(id), ANSWER_LIMIT_MS).unref();
    const order = { type: 'boolean', title: 'Place this order', default: false } as const;
    const title = `The most that it may cost${this.#maxCost.currency && ` in ${this.#maxCost.currency}`}`;
    const max_cost = { type: 'number', title, minimum: 0, maximum: Number(most) } as const;
    const properties = limit === undefined ? { order, max_cost } : { order };
    return inputRequired({
      inputRequests: {
        order: inputRequired.elicit({
          message: questionOf(wanted, plan, moneyText(this.#maxCost), limit !== undefined),
          requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
        }),
      },
      requestState: id,
    });
  }

  #typed(value: unknown): string {
    const amount = typeof value === 'number' ? String(value) : '';
    if (compareAmounts(amount, '0') !== 1)
      throw usage('the person did not type a limit for the cost; nothing was ordered');
    if (compareAmounts(amount, amountText(this.#maxCost.amount)) === 1)
      throw usage(`${amount} exceeds the limit of ${moneyText(this.#maxCost)}; nothing was ordered`);
    return amount;
  }

  /** What the assistant claims can only forbid an order. */
  #refuseAbove({ estimate: { high, currency } }: Plan, limit: string): void {
    const { currency: own } = this.#maxCost;
    if (high === null) return;
    if (currency && own && currency !== own)
      throw usage(`prices are in ${currency}, and the limit is in ${own}; nothing was ordered`);
    const cost = `${high}${currency ? ` ${currency}` : ''}`;
    if (compareAmounts(String(high), limit) === 1)
      throw usage(`the estimate of ${cost} exceeds the limit of ${limit}; nothing was ordered`, 'order less');
  }
}

/** Two URLs that differ at their ends look different. */
const middleCut = (url: string): string =>
  url.length <= MAX_URL ? url : `${url.slice(0, MAX_URL / 2)} … ${url.slice(-MAX_URL / 2)}`;

/** Each text stays on its line, so that it can't pretend to be another one, and a host shows its real letters. */
function questionOf(
  { sku, notes }: Wanted,
  { orders, estimate, left_out }: Plan,
  most: string,
  isKnown: boolean,
): string {
  const audios = orders.flatMap((order) => order.audios);
  const { low, high, currency } = estimate;
  const cost = `${low === high ? high : `${low} to ${high}`}${currency ? ` ${currency}` : ''}`;
  const claimed = high === null ? '' : `, ${cost} if the assistant is right about these lengths`;
  const lines = [
    `Order the transcription of ${plural(audios.length, 'recording')} with ${sku.join(', ')}?`,
    isKnown
      ? `Estimated cost: ${cost} (limit: ${most}), if these lengths are right:`
      : `Cost: unknown${claimed}. Type the most that it may cost (limit: ${most}).`,
    ...audios.map(({ url, minutes }) => {
      const length = minutes === null ? 'length unknown' : `${minutes} min, says the assistant`;
      return `- ${middleCut(new URL(url).href)} (${length})`;
    }),
    left_out.length ? `${plural(left_out.length, 'recording')} ordered before: not bought again` : '',
    notes ? `Notes for the transcribers: ${notes}` : '',
  ];
  return lines.flatMap((line) => (line ? [oneLine(line)] : [])).join('\n');
}
