/** What the ledger knows of borrowed webhooks, as one account sees it. Formers that hold a secret are sealed. */
import type { Ledger } from '../ledger/ledger.ts';
import { Properties } from '../ledger/properties.ts';
import type { TableContext } from '../ledger/table.ts';
import { type Loan, loanOfUrl, secretHashOf, WebhookLoans } from '../ledger/webhook-loans.ts';
import { isSealed, Sealer } from '../lib/sealer.ts';
import { shownWebhook } from '../lib/shown-webhook.ts';

/** Whose webhook it is. */
export interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** A listener that the webhook may lead to, and what it has to put back. */
export interface Holder {
  readonly id: number;
  readonly secretHash: string;
  /** Undefined where another key has sealed it. */
  readonly former: string | undefined;
}

/** What is borrowed, as its borrower knows it. */
export interface OwnLoan extends Holder {
  readonly url: string;
}

/** What is to be written before the webhook is set, and what is borrowed by then. */
interface PreparedLoan {
  readonly add: (tables: TableContext, run: number) => Promise<number>;
  readonly loan: Omit<OwnLoan, 'id'>;
}

export class LoanBook {
  readonly #ledger: Ledger;
  readonly #account: Account;
  readonly #hide: (text: string) => string;
  #sealer: Sealer | undefined;

  constructor(ledger: Ledger, account: Account, hide: (text: string) => string) {
    this.#ledger = ledger;
    this.#account = account;
    this.#hide = hide;
  }

  all(): Promise<Loan[]> {
    return new WebhookLoans(this.#ledger).all();
  }

  async isOurs({ account }: Loan): Promise<boolean> {
    return account === (await this.accountMark());
  }

  /** To be written before the webhook is set; where it leads to a listener, what that one has to put back counts. */
  async prepare(url: string, webhookNow: string): Promise<PreparedLoan> {
    const before = loanOfUrl(webhookNow, await this.all());
    const sealer = await this.#sealing();
    const former = before ? before.former : this.#sealIfSecret(sealer, webhookNow);
    const hash = secretHashOf(url);
    const address = sealer.seal(url);
    const row = { account: await this.accountMark(), secretHash: hash, address, former };
    return {
      add: (tables, run) => new WebhookLoans(tables).add({ ...row, run }),
      loan: { secretHash: hash, url, former: await this.#open(former) },
    };
  }

  /** Removes every loan of the account; gives them as they were. */
  async forgetAll(): Promise<Loan[]> {
    const ours: Loan[] = [];
    for (const loan of await this.all()) if (await this.isOurs(loan)) ours.push(loan);
    await this.#ledger.transaction((tables) => new WebhookLoans(tables).remove(ours.map(({ id }) => id)));
    return ours;
  }

  /** What it has to put back; undefined where another key has sealed it. */
  formerOf({ former }: Loan): Promise<string | undefined> {
    return this.#open(former);
  }

  /** Where its listener is reached; undefined where another key has sealed that. */
  addressOf({ address }: Loan): Promise<string | undefined> {
    return this.#open(address);
  }

  async #sealing(): Promise<Sealer> {
    this.#sealer ??= new Sealer(this.#account.apiKey, await new Properties(this.#ledger).salt());
    return this.#sealer;
  }

  /** Of the base URL and the key. */
  async accountMark(): Promise<string> {
    return (await this.#sealing()).mark(this.#account.baseUrl.replace(/\/+$/, ''));
  }

  async #open(text: string): Promise<string | undefined> {
    return isSealed(text) ? (await this.#sealing()).open(text) : text;
  }

  #sealIfSecret(sealer: Sealer, url: string): string {
    return this.#hide(url) === url && shownWebhook(url) === url ? url : sealer.seal(url);
  }
}
