/** A service that bills in every way that the document leaves open, and knows what was paid. */
import { Service } from './server.ts';

/** How it bills. */
export interface Manner {
  /** Invoices list their items; else files say their total. */
  readonly hasItems: boolean;
  /** Files say their total. */
  readonly hasTotals: boolean;
  /** An upgrade is billed on an invoice of its own; else on the first one. */
  readonly newInvoice: boolean;
  /** The SKU of an upgrade on its invoice differs. */
  readonly otherSku: boolean;
  /** A refund is a credit on the invoices; else the state alone tells it. */
  readonly credits: boolean;
  /** Only half of what was paid comes back, and the invoice shows it. */
  readonly halfBack: boolean;
  /** A refunded file can be upgraded. */
  readonly upgradesRefunded: boolean;
  /** Items name no file. */
  readonly namesNoFile: boolean;
  /** An order has a discount, which names no file. */
  readonly discounts: boolean;
  /** Each invoice is named by another id than its own. */
  readonly otherId: boolean;
  /** How amounts are written. */
  readonly sign: '' | '$';
}

export const invoiceStates = ['CREATED', 'OPEN', 'SUBMITTED', 'PAID'] as const;
export type InvoiceState = (typeof invoiceStates)[number];

interface Line {
  readonly file: string;
  readonly sku: string;
  readonly cents: number;
}

interface Invoice {
  readonly id: string;
  state: InvoiceState;
  readonly lines: Line[];
}

interface File {
  readonly id: string;
  readonly order: string;
  readonly link: string;
  state: string;
  readonly invoices: string[];
}

export class BillingService {
  readonly #files = new Map<string, File>();
  readonly #invoices = new Map<string, Invoice>();
  readonly #manner: Manner;
  readonly baseUrl: string;
  /** The state of invoices that are made next. */
  nextState: InvoiceState = 'PAID';
  #prices = 0;
  #returned = 0;

  private constructor(service: Service, manner: Manner) {
    this.#manner = manner;
    this.baseUrl = service.baseUrl;
    service.allow('POST /order_url', ({ body }, response) => {
      const links = [body?.url ?? []].flat() as string[];
      const skus = [body?.sku ?? []].flat() as string[];
      response.end(JSON.stringify(this.#order(links, skus)));
    });
    service.allow('*', ({ path, body }, response) => {
      const [, kind = '', id = '', call = ''] = /^\/(\w+)\/(\w+)(?:\/(\w+))?$/.exec(path) ?? [];
      const answer = this.#answer(kind, id, call, [body?.sku ?? []].flat() as string[]);
      response.writeHead(answer ? 200 : 409, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { message: 'It can not be done.' }));
    });
  }

  static async start(manner: Manner): Promise<BillingService> {
    return new BillingService(await Service.start(), manner);
  }

  /** What was paid and did not come back, in cents. */
  get spent(): number {
    const paid = [...this.#invoices.values()].filter(({ state }) => state === 'PAID');
    return paid.reduce((sum, { lines }) => sum + centsOf(lines), 0) - this.#returned;
  }

  get files(): string[] {
    return [...this.#files.keys()];
  }

  setState(id: string, state: string): void {
    const file = this.#files.get(id);
    if (file && file.state !== 'Refunded') file.state = state;
  }

  /** Moves the invoices of a file one state further. */
  moveInvoices(id: string): void {
    for (const name of this.#files.get(id)?.invoices ?? []) {
      const invoice = this.#invoices.get(name);
      if (invoice) invoice.state = invoiceStates[invoiceStates.indexOf(invoice.state) + 1] ?? 'PAID';
    }
  }

  #order(links: readonly string[], skus: readonly string[]): object {
    const order = `o${this.#files.size + 1}`;
    const first = this.#files.size;
    const ids = links.map((_, at) => String(first + at + 1));
    const lines = ids.flatMap((file) => skus.map((sku) => this.#line(file, sku)));
    if (this.#manner.discounts) lines.push({ file: '', sku: 'DISCOUNT', cents: -36 });
    const invoice = this.#addInvoice(lines);
    for (const [at, id] of ids.entries())
      this.#files.set(id, { id, order, link: links[at] ?? '', state: 'Pre-Processing', invoices: [invoice] });
    return { order, audiofiles: ids.map(Number), message: 'ok' };
  }

  #line(file: string, sku: string): Line {
    this.#prices += 1;
    return { file, sku, cents: 100 + ((this.#prices * 137) % 900) };
  }

  #addInvoice(lines: Line[]): string {
    const id = `${700 + this.#invoices.size}`;
    this.#invoices.set(id, { id, state: this.nextState, lines });
    return id;
  }

  #answer(kind: string, id: string, call: string, skus: readonly string[]): object | undefined {
    if (kind === 'invoice') return this.#invoice(id.replace(/^i/, ''));
    const file = this.#files.get(id);
    if (!file) return undefined;
    if (call === 'upgrade') return this.#upgrade(file, skus);
    return call === 'refund' ? this.#refund(file) : this.#describe(file);
  }

  #describe({ id, order, link, state, invoices }: File): object {
    const names = invoices.map((each) => (this.#manner.otherId ? `i${each}` : each));
    const total = this.#manner.hasTotals && { total: this.#amount(centsOf(this.#linesOf(id))) };
    const audiofile = { id, statename: state, originallink: link, duration: 10, orders: [order] };
    return { audiofile: { ...audiofile, invoices: names, ...total } };
  }

  #invoice(id: string): object | undefined {
    const invoice = this.#invoices.get(id);
    if (!invoice) return undefined;
    const { state, lines } = invoice;
    const items = lines.map(({ file, sku, cents }) => ({
      ...{
        sku,
        audiofile: this.#manner.namesNoFile || !file ? undefined : Number(file),
        quantity: 1,
        price: this.#amount(cents),
        total: this.#amount(cents),
      },
    }));
    const total = this.#amount(centsOf(lines));
    return {
      id,
      state,
      createtime: '2026-11-01T00:00:00Z',
      total,
      items: this.#manner.hasItems ? items : [],
    };
  }

  #upgrade(file: File, skus: readonly string[]): object | undefined {
    if (file.state === 'Refunded' && !this.#manner.upgradesRefunded) return undefined;
    const lines = skus.map((sku) => this.#line(file.id, this.#manner.otherSku ? `${sku}X` : sku));
    const first = this.#invoices.get(file.invoices[0] ?? '');
    if (this.#manner.newInvoice) file.invoices.push(this.#addInvoice(lines));
    else first?.lines.push(...lines);
    if (file.state === 'Delivered') file.state = 'Out for edit';
    if (file.state === 'Refunded') file.state = 'Transcribing';
    return { message: 'ok' };
  }

  #refund(file: File): object | undefined {
    if (file.state !== 'Pre-Processing') return undefined;
    file.state = 'Refunded';
    for (const { state, lines } of this.#invoices.values()) {
      const own = lines.filter((line) => line.file === file.id);
      if (this.#manner.credits) lines.push(...own.map((line) => ({ ...line, cents: -this.#back(line) })));
      else if (state === 'PAID') this.#returned += centsOf(own);
      // What is not paid is not asked for any more.
      else for (const line of own) lines.splice(lines.indexOf(line), 1);
    }
    return { message: 'ok' };
  }

  #back({ cents }: Line): number {
    return this.#manner.halfBack ? Math.floor(cents / 2) : cents;
  }

  #linesOf(file: string): Line[] {
    return [...this.#invoices.values()].flatMap(({ lines }) => lines).filter((line) => line.file === file);
  }

  #amount(cents: number): string {
    const text = (Math.abs(cents) / 100).toFixed(2);
    return `${cents < 0 ? '-' : ''}${this.#manner.sign}${text}`;
  }
}

const centsOf = (lines: readonly Line[]): number => lines.reduce((sum, { cents }) => sum + cents, 0);
