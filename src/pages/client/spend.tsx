/** What was spent: charts, budgets, turnaround, and what is open or uncertain. */
import { useEffect, useState } from 'preact/hooks';
import { type CallError, getText, useLoad } from './api.ts';
import { MonthChart, Share } from './charts.tsx';
import { countText, money, plural, shellWord, spanText } from './format.ts';
import { useKeys } from './keys.ts';
import {
  Command,
  commandLine,
  copy,
  Empty,
  Facts,
  Failed,
  FileLink,
  Grid,
  Panel,
  say,
  sayError,
  Text,
  Time,
} from './parts.tsx';
import { keep, pathWith, route } from './route.ts';
import type { Amount, Budget, Invoice, Spend, SpendRow, Turnaround, Waiting } from './types.ts';

const groupings = { month: 'months', sku: 'skus', order: 'orders', feed: 'feeds', tag: 'tags' } as const;
type Grouping = keyof typeof groupings;
/** What is beyond is in the CSV. */
const MAX_ROWS = 200;
const MAX_WAITING = 50;

const Tile = ({ label, value, tone = '' }: { label: string; value: string; tone?: string }) => (
  <div>
    <dt>{label}</dt>
    <dd class={tone}>{value}</dd>
  </div>
);

function Totals({ report: { totals, counts } }: Spend) {
  return (
    <dl class="tiles">
      {totals.map(({ currency, spent, unpaid, estimated, refunded }) => [
        <Tile key="spent" label="spent" value={money(spent, currency)} />,
        Number(unpaid) ? (
          <Tile key="unpaid" label="billed, not paid" value={money(unpaid, currency)} />
        ) : null,
        Number(estimated) ? (
          <Tile key="estimated" label="estimated" value={money(estimated, currency)} />
        ) : null,
        Number(refunded) ? <Tile key="refunded" label="refunded" value={money(refunded, currency)} /> : null,
      ])}
      <Tile label="delivered" value={countText(counts.delivered)} />
      <Tile label="open" value={countText(counts.open)} />
      {counts.held ? <Tile label="on hold" value={countText(counts.held)} tone="warn" /> : null}
      {counts.unclear ? <Tile label="uncertain" value={countText(counts.unclear)} tone="bad" /> : null}
      {counts.late ? <Tile label="late" value={countText(counts.late)} tone="bad" /> : null}
    </dl>
  );
}

function Budgets({ budgets }: { budgets: readonly Budget[] }) {
  if (!budgets.length) return <Empty title="No budget is set." line="budget set 500/month" />;
  return (
    <Facts items={budgets}>
      {({ budget, source, until, left, limit, billed, estimated, unknown, currency }) => {
        const used = 1 - Number(left) / (Number(limit) || 1);
        return (
          <>
            <b>{budget}</b> <span class="muted">from {source}, until </span>
            <Time at={until} isExact />
            <Share
              share={used}
              isOver={used > 0.9}
              label={`${Math.round(100 * used)} % of the budget is used`}
            />
            <b class={Number(left) > 0 ? '' : 'bad'}>{money(left, currency)} left</b>{' '}
            <span class="muted">
              of {money(limit)}: {money(billed)} billed, {money(estimated)} estimated
              {unknown ? `, ${plural(unknown, 'purchase')} of unknown cost` : ''}
            </span>
          </>
        );
      }}
    </Facts>
  );
}

function SpendTable({ rows, by }: { rows: readonly SpendRow[]; by: Grouping }) {
  const most = rows.reduce((top, { spent }) => Math.max(top, Number(spent)), 0);
  const shareOf = ({ spent }: SpendRow): number => (most ? Math.max(0, Number(spent)) / most : 0);
  const unlessZero = (amount: Amount, currency: string | null): string =>
    Number(amount) ? money(amount, currency) : '';
  return (
    <Grid
      label={`Spend by ${nameOf(by)}`}
      head={[nameOf(by), 'share', 'spent', 'not paid', 'estimated', 'files']}
      rows={rows
        .slice(0, MAX_ROWS)
        .map((row) => [
          <Text key="name">{String(row[by] ?? 'unknown').slice(0, 200)}</Text>,
          <Share
            key="share"
            share={shareOf(row)}
            label={`${Math.round(100 * shareOf(row))} % of the most`}
          />,
          money(row.spent, row.currency),
          unlessZero(row.unpaid, row.currency),
          unlessZero(row.estimated, row.currency),
          countText(row.files),
        ])}
    />
  );
}

const Turnarounds = ({ rows }: { rows: readonly Turnaround[] }) => (
  <Grid
    label="Turnaround by SKU"
    head={['SKU', 'target', 'delivered', 'late', 'median', 'slowest']}
    rows={rows.map((row) => [
      row.sku ?? 'unknown',
      row.target_days === null ? '' : plural(row.target_days, 'day'),
      countText(row.delivered),
      <span key="late" class={row.late ? 'bad' : ''}>
        {countText(row.late)}
      </span>,
      spanText(row.median_seconds),
      spanText(row.slowest_seconds),
    ])}
  />
);

const waitingKinds = {
  open: ['busy', 'open'],
  held: ['warn', 'on hold'],
  unclear: ['bad', 'uncertain'],
} as const;

function WaitingItem({ kind, audiofile, title, url, order, state, ...item }: Waiting) {
  const [tone, name] = waitingKinds[kind];
  return (
    <>
      <b class={tone}>{name}</b> <FileLink id={audiofile} title={title || url || `order ${order ?? '?'}`} />
      <p class="muted">
        {state ? `${state}, ` : ''}ordered <Time at={item.ordered_at} />
        {item.due_at ? ', due ' : ''}
        <Time at={item.due_at} />
        {item.late_seconds ? <b class="late">{spanText(item.late_seconds)} late</b> : null}
      </p>
      {item.attempt === null ? null : <Command line={`attempts settle ${item.attempt} --not-placed`} />}
    </>
  );
}

const InvoiceList = ({ invoices }: { invoices: readonly Invoice[] }) => (
  <Facts items={invoices.slice(0, MAX_ROWS)}>
    {({ invoice, state, total, currency, created }) => (
      <>
        <b>{invoice}</b> {state} {money(total, currency)} <span class="muted">{created}</span>{' '}
        <Command line={`invoice ${shellWord(invoice)}`} />
      </>
    )}
  </Facts>
);

async function exportCsv(path: string, by: Grouping): Promise<void> {
  try {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([await getText(path)], { type: 'text/csv' }));
    link.download = `steno-spend-by-${by}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    say(`Exported ${link.download}`);
  } catch (error) {
    sayError(error as CallError);
  }
}

interface Period {
  readonly by: Grouping;
  readonly since: string;
  readonly until: string;
}

function Tools({
  period,
  line,
  onPick,
}: {
  period: Period;
  line: string;
  onPick: (change: Partial<Period>) => void;
}) {
  const path = pathWith('/api/spend.csv', { ...period });
  return (
    <form class="tools" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="tabs">
        <legend class="unseen">Group by</legend>
        {(Object.keys(groupings) as Grouping[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === period.by}
            onClick={() => onPick({ by: each })}
          >
            {nameOf(each)}
          </button>
        ))}
      </fieldset>
      {(['since', 'until'] as const).map((name) => (
        <label key={name} class="inline">
          {name}{' '}
          <input
            type="date"
            value={period[name]}
            onChange={(event) => onPick({ [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <span class="grow" />
      <button type="button" onClick={() => void exportCsv(path, period.by)}>
        Export CSV
      </button>
      <button type="button" onClick={() => print()}>
        Print
      </button>
      <Command line={line} />
    </form>
  );
}

const nameOf = (by: Grouping): string => (by === 'sku' ? 'SKU' : by);

function SpendPanel({ report, by }: { report: Spend['report']; by: Grouping }) {
  const rows = report[groupings[by]];
  const currencies = by === 'month' ? [...new Set(rows.map(({ currency }) => currency))] : [];
  return (
    <Panel title={`Spend by ${nameOf(by)}`}>
      {currencies.map((currency) => (
        <MonthChart key={currency} rows={rows.filter((row) => row.currency === currency)} />
      ))}
      {rows.length ? <SpendTable {...{ rows, by }} /> : <p class="muted">Nothing was bought in this time.</p>}
      {rows.length > MAX_ROWS ? (
        <p class="muted">and {plural(rows.length - MAX_ROWS, 'row')} more in the CSV</p>
      ) : null}
    </Panel>
  );
}

function WaitingPanel({ items }: { items: readonly Waiting[] }) {
  const shown = items.slice(0, MAX_WAITING);
  return (
    <Panel title="Open, on hold and uncertain">
      {items.length ? null : <p class="muted">Nothing is open.</p>}
      <Facts items={shown}>{(item) => <WaitingItem {...item} />}</Facts>
      {shown.length < items.length ? (
        <p class="muted">and {countText(items.length - shown.length)} more</p>
      ) : null}
    </Panel>
  );
}

function Parts({ data: { report, budgets, invoices }, by }: { data: Spend; by: Grouping }) {
  return (
    <div class="columns">
      <div>
        <SpendPanel {...{ report, by }} />
        {report.turnaround.length ? (
          <Panel title="Turnaround">
            <Turnarounds rows={report.turnaround} />
          </Panel>
        ) : null}
      </div>
      <div>
        <Panel title="Budget">
          <Budgets budgets={budgets.budgets} />
        </Panel>
        <WaitingPanel items={report.waiting} />
        {invoices.length ? (
          <Panel title="Invoices">
            <InvoiceList invoices={invoices} />
          </Panel>
        ) : null}
        {report.notes.length ? (
          <Panel title="Not counted">
            {report.notes.map((note) => (
              <p key={note}>{note}</p>
            ))}
          </Panel>
        ) : null}
      </div>
    </div>
  );
}

const groupingOf = (text: string | null): Grouping =>
  text && text in groupings ? (text as Grouping) : 'month';

export function SpendPage() {
  const { params } = route.value;
  const [period, setPeriod] = useState<Period>({
    by: groupingOf(params.get('by')),
    since: params.get('since') ?? '',
    until: params.get('until') ?? '',
  });
  const { data, error } = useLoad<Spend>(pathWith('/api/spend', { ...period }), ['spend']);
  const { by, since, until } = period;
  const options = [since && ` --since ${since}`, until && ` --until ${until}`].filter(Boolean).join('');
  const line = `report --by ${by}${options}`;
  useEffect(() => keep({ ...period }), [period]);
  useKeys({ c: () => void copy(commandLine(line)) });
  return (
    <main tabIndex={-1}>
      <h1 class="unseen">Spend</h1>
      <Tools {...{ period, line }} onPick={(change) => setPeriod({ ...period, ...change })} />
      <Failed error={error} />
      {data ? <Totals {...data} /> : null}
      {data ? <Parts {...{ data, by }} /> : null}
    </main>
  );
}
