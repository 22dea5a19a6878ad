/** What the pages are told of the account: spending, budgets, and the state of the set-up. */
import { decodeKeptInvoice } from '../api/account.ts';
import { formats } from '../catalog/formats.ts';
import { budgetReport } from '../flows/orders/cost.ts';
import { KeptReports } from '../flows/report/kept.ts';
import type { Changes } from '../ledger/changes.ts';
import { fileGroupings } from '../ledger/file-windows.ts';
import { Invoices } from '../ledger/invoices.ts';
import { OpenAttempts } from '../ledger/open-attempts.ts';
import { Runs } from '../ledger/runs.ts';
import { type Json, type PlainJson, toJson } from '../lib/json.ts';
import { monotonicMs } from '../lib/time.ts';
import { csvTable } from '../lib/view.ts';
import { budgetsView, invoiceRecord } from '../views/money.ts';
import { attemptRecord, settleLine } from '../views/purchases.ts';
import { groupings, reportJson, reportView, spendView } from '../views/report.ts';
import { doctorView, listenerRecord } from '../views/setup.ts';
import { type Call, CsvAnswer, choiceOf, type Handlers, type PageSource } from './source.ts';

/** Of invoices, the latest. */
const MAX_INVOICES = 200;
/** The service is asked anew after this time, however many pages ask. */
const HEALTH_MS = 15_000;

export function accountHandlers(source: PageSource, changes: Changes): Handlers {
  const health = new Health(source);
  const reports = new KeptReports(source.ledger, source.settings.currency, changes);
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
  });

async function spend(source: PageSource, reports: KeptReports, call: Call): Promise<Json> {
  const { ledger, settings } = source;
  choiceOf(call, 'by', groupings);
  const report = await reports.get(call.query.get('since') ?? '', call.query.get('until') ?? '');
  const budgets = await budgetReport(ledger, settings);
  const kept = await new Invoices(ledger).all();
  const invoices = kept.flatMap((each) => decodeKeptInvoice(each) ?? []).slice(-MAX_INVOICES);
  return toJson({
    report: reportJson(report),
    budgets: budgetsView(budgets).json as PlainJson,
    invoices: invoices.reverse().map((each) => invoiceRecord.json({ ...each, currency: settings.currency })),
  });
}

async function spendCsv(reports: KeptReports, call: Call): Promise<CsvAnswer> {
  const by = choiceOf(call, 'by', groupings);
  const report = await reports.get(call.query.get('since') ?? '', call.query.get('until') ?? '');
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
      listeners: listeners.map((each) => listenerRecord.json(each)),
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
