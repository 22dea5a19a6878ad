/** What the pages are told of the account: spending, budgets, and the state of the set-up. */
import { decodeKeptInvoice } from '../api/account.ts';
import { formats } from '../catalog/formats.ts';
import { budgetReport } from '../flows/orders/cost.ts';
import { gatherReport } from '../flows/report/gather.ts';
import { makeReport, type Report } from '../flows/report/report.ts';
import type { Changes } from '../ledger/changes.ts';
import { fileGroupings } from '../ledger/file-windows.ts';
import { Invoices } from '../ledger/invoices.ts';
import { type Attempt, OpenAttempts } from '../ledger/open-attempts.ts';
import { type RunningListener, Runs } from '../ledger/runs.ts';
import { type Json, type PlainJson, toJson } from '../lib/json.ts';
import { monotonicMs, nowMs, parseSince, parseUntil } from '../lib/time.ts';
import { csvTable } from '../lib/view.ts';
import { budgetsView, invoiceRecord } from '../views/money.ts';
import { attemptRecord } from '../views/purchases.ts';
import { groupings, reportJson, reportView, spendView } from '../views/report.ts';
import { doctorView } from '../views/setup.ts';
import { type Call, CsvAnswer, choiceOf, type Handler, type PageSource } from './source.ts';

/** Of invoices, the latest. */
const MAX_INVOICES = 200;
/** The service is asked anew after this time, however many pages ask. */
const HEALTH_MS = 15_000;
/** What is late changes by itself. */
const REPORT_MS = 60_000;

export function accountHandlers(source: PageSource, changes: Changes): Readonly<Record<string, Handler>> {
  const health = new Health(source);
  const reports = new Reports(source, changes);
  return {
    'GET about': async () => about(source),
    'GET spend': (call) => spend(source, reports, call),
    'GET spend.csv': (call) => spendCsv(reports, call),
    'GET health': () => health.get(),
  };
}

const about = ({ version, settings, isSandbox, ledger, command }: PageSource): Json =>
  toJson({
    ...{ version, profile: settings.profileName, sandbox: isSandbox },
    ledger: ledger.db.isShared ? 'shared' : 'local',
    currency: settings.currency || null,
    command,
    formats: formats.map(({ ext }) => ext),
    groupings: [...fileGroupings],
    now: new Date(nowMs()).toISOString(),
  });

/** Made of what is kept: no invoice is fetched. Of 100,000 files a report takes seconds, so the last one is kept. */
class Reports {
  readonly #source: PageSource;
  readonly #changes: Changes;
  #last: { readonly key: string; readonly atMs: number; readonly report: Promise<Report> } | undefined;

  constructor(source: PageSource, changes: Changes) {
    this.#source = source;
    this.#changes = changes;
  }

  async get({ query }: Call): Promise<Report> {
    const [since, until] = [query.get('since') ?? '', query.get('until') ?? ''];
    const key = JSON.stringify([since, until, (await this.#changes.marks()).spend]);
    if (this.#last?.key === key && monotonicMs() - this.#last.atMs < REPORT_MS) return this.#last.report;
    const report = this.#make(since, until);
    this.#last = { key, atMs: monotonicMs(), report };
    report.catch(() => {
      this.#last = undefined;
    });
    return report;
  }

  async #make(since: string, until: string): Promise<Report> {
    const { ledger, settings } = this.#source;
    const now = nowMs();
    const gathered = await gatherReport(ledger, {
      ...{ now, currency: settings.currency },
      since: since ? parseSince(since, now, 'since') : undefined,
      until: until ? parseUntil(until, now) : undefined,
    });
    return makeReport(gathered);
  }
}

async function spend(source: PageSource, reports: Reports, call: Call): Promise<Json> {
  const { ledger, settings } = source;
  choiceOf(call, 'by', groupings);
  const report = await reports.get(call);
  const budgets = await budgetReport(ledger, settings);
  const kept = await new Invoices(ledger).all();
  const invoices = kept.flatMap((each) => decodeKeptInvoice(each) ?? []).slice(-MAX_INVOICES);
  return toJson({
    report: reportJson(report),
    budgets: budgetsView(budgets).json as PlainJson,
    invoices: invoices.reverse().map((each) => invoiceRecord.json({ ...each, currency: settings.currency })),
  });
}

async function spendCsv(reports: Reports, call: Call): Promise<CsvAnswer> {
  const by = choiceOf(call, 'by', groupings);
  const report = await reports.get(call);
  return new CsvAnswer(
    by ? `spend-by-${by}.csv` : 'spend.csv',
    csvTable(by ? spendView(report, by) : reportView(report)),
  );
}

class Health {
  readonly #source: PageSource;
  #checks: { readonly atMs: number; readonly json: Promise<Json> } | undefined;

  constructor(source: PageSource) {
    this.#source = source;
  }

  async get(): Promise<Json> {
    const { ledger, command } = this.#source;
    const checks = this.#examine();
    const listeners = await new Runs(ledger).listeners();
    const attempts = await new OpenAttempts(ledger).list();
    return toJson({
      checks: (await checks) as PlainJson,
      listeners: listeners.map(listenerJson),
      attempts: attempts.map((each) => attemptRecord.json(each).set('settle', settleLine(each, command))),
    });
  }

  #examine(): Promise<Json> {
    if (!this.#checks || monotonicMs() - this.#checks.atMs > HEALTH_MS) {
      const json = this.#source.examine().then((results) => doctorView(results).json);
      json.catch(() => {
        this.#checks = undefined;
      });
      this.#checks = { atMs: monotonicMs(), json };
    }
    return this.#checks.json;
  }
}

const listenerJson = ({ host, pid, started_at, seen_at, shows }: RunningListener) => ({
  ...{ host, pid: Number(pid), started_at, seen_at },
  events: (JSON.parse(shows) as string[]).join(', ') || null,
});

/** What a person fills in, once they have looked. */
const settleLine = ({ attempt, kind, order }: Attempt, command: string): string =>
  `${command} attempts settle ${attempt} --placed${kind === 'order' ? ` ${order || '<order>'}` : ''}`;
