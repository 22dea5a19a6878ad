/** What the ledger knows of borrowed webhooks, as one account sees it. Formers that hold a secret are sealed. */
import type { Ledger } from '../ledger/ledger.ts';
import { type Loan, loanOfUrl, secretHashOf } from '../ledger/webhook-loans.ts';
import { isSealed, Sealer } from '../lib/sealer.ts';
import { maskUserinfo } from '../lib/userinfo.ts';

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

  all(): Loan[] {
    return this.#ledger.webhookLoans.all();
  }

  isOurs({ account }: Loan): boolean {
    return account !== '' && account === this.#accountMark;
  }

  /** To be written before the webhook is set; where it leads to a listener, what that one has to put back counts. */
  prepare(run: number, url: string, webhookNow: string): { add: () => number; loan: Omit<OwnLoan, 'id'> } {
    const before = loanOfUrl(webhookNow, this.all());
    const former = before ? before.former : this.#sealIfSecret(webhookNow);
    const hash = secretHashOf(url);
    const address = this.#sealing.seal(url);
    const row = { account: this.#accountMark, run, secretHash: hash, address, former };
    return {
      add: () => this.#ledger.webhookLoans.add(row),
      loan: { secretHash: hash, url, former: this.#open(former) },
    };
  }

  /** Removes every loan of the account; gives them as they were. */
  forgetAll(): Loan[] {
    const ours = this.all().filter((loan) => this.isOurs(loan));
    this.#ledger.transaction(() => this.#ledger.webhookLoans.remove(ours.map(({ id }) => id)));
    return ours;
  }

  /** What it has to put back; undefined where another key has sealed it. */
  formerOf({ former }: Loan): string | undefined {
    return this.#open(former);
  }

  /** Where its listener is reached; undefined where that is not known. */
  addressOf({ address }: Loan): string | undefined {
    return address ? this.#open(address) : undefined;
  }

  get #sealing(): Sealer {
    this.#sealer ??= new Sealer(this.#account.apiKey, this.#ledger.properties.salt);
    return this.#sealer;
  }

  get #accountMark(): string {
    return this.#sealing.mark(this.#account.baseUrl.replace(/\/+$/, ''));
  }

  #open(text: string): string | undefined {
    return isSealed(text) ? this.#sealing.open(text) : text;
  }

  #sealIfSecret(url: string): string {
    return this.#hide(url) === url && maskUserinfo(url) === url ? url : this.#sealing.seal(url);
  }
}

/** The command that sets a URL; one that is not known, or has a name or password in it, is for the user to fill in. */
export const setCommand = (url: string): string =>
  `steno webhook set ${url && maskUserinfo(url) === url ? url : '<url>'}`;
