/** The last report, for as long as it is true: of 100,000 files one takes seconds. */
import type { Changes } from '../../ledger/changes.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { monotonicMs, nowMs, parseSince, parseUntil } from '../../lib/time.ts';
import { gatherReport } from './gather.ts';
import { makeReport, type Report } from './report.ts';

/** What is late changes by itself. */
const MAX_AGE_MS = 60_000;

export class KeptReports {
  readonly #ledger: Ledger;
  readonly #currency: string;
  readonly #changes: Changes;
  #last: { readonly key: string; readonly atMs: number; readonly report: Promise<Report> } | undefined;

  constructor(ledger: Ledger, currency: string, changes: Changes) {
    this.#ledger = ledger;
    this.#currency = currency;
    this.#changes = changes;
  }

  /** Made of what the ledger has: no invoice is fetched. Times are as people write them; empty: all. */
  async get(since: string, until: string): Promise<Report> {
    const key = JSON.stringify([since, until, (await this.#changes.marks()).spend]);
    if (this.#last?.key === key && monotonicMs() - this.#last.atMs < MAX_AGE_MS) return this.#last.report;
    const report = this.#make(since, until);
    this.#last = { key, atMs: monotonicMs(), report };
    report.catch(() => {
      this.#last = undefined;
    });
    return report;
  }

  async #make(since: string, until: string): Promise<Report> {
    const now = nowMs();
    const gathered = await gatherReport(this.#ledger, {
      ...{ now, currency: this.#currency },
      since: since ? parseSince(since, now, 'since') : undefined,
      until: until ? parseUntil(until, now) : undefined,
    });
    return makeReport(gathered);
  }
}
