/**
 * The benchmark: every figure in one run, mostly as a ratio to something timed beside it. `npm run bench` measures what
 * takes seconds, `npm run bench:long` what takes minutes.
 */
import { memoryRows as bulkInMemory, largeRows, smallKeys, smallRows } from './bulk.ts';
import { ledgerRows } from './ledgers.ts';
import { listenRows } from './listen.ts';
import { longRows } from './long.ts';
import { type Measured, type Row, race } from './measure.ts';
import { memoryRows } from './memory.ts';
import { pageRows } from './pages.ts';
import { Place } from './place.ts';
import { type Plan, readPlan } from './plan.ts';
import { type Figures, failures, keep, printed } from './report.ts';
import { sharedCounts, sharedRows, stopServer } from './shared.ts';
import { startRows } from './starts.ts';
import type { Weighed, WeighedRow } from './weigh.ts';

/** Compares, round after round. */
async function measureShort(place: Place, { wanted, repeats, quick }: Plan): Promise<Measured[]> {
  const measured: Measured[] = [];
  const groups: ReadonlyArray<readonly [() => Promise<Row[]>, number]> = [
    [async () => [...(await startRows(place)), ...(await ledgerRows(place, wanted))], repeats(31, 9)],
    [async () => (smallKeys.some(wanted) ? smallRows(place) : []), repeats(9, 3)],
    [() => bulkInMemory(place), repeats(9, 3)],
    [() => largeRows(place), repeats(7, 3)],
    [async () => (wanted('listen') ? listenRows(place, quick) : []), repeats(7, 3)],
    [async () => (wanted('shared-files') ? sharedRows(place, quick) : []), repeats(31, 9)],
  ];
  for (const [rows, times] of groups) {
    const chosen = (await rows()).filter(({ key }) => wanted(key));
    if (chosen.length) say(`${chosen.map(({ key }) => key).join(', ')}: ${times} times`);
    if (chosen.length) measured.push(...race(chosen, times));
    await place.stopReceivers();
  }
  return measured;
}

/** Measures each once; with `done`, each is told as soon as it is there. */
async function weighAll(
  rows: readonly WeighedRow[],
  { wanted }: Plan,
  done: (row: Weighed) => void = () => {},
): Promise<Weighed[]> {
  const weighed: Weighed[] = [];
  for (const row of rows.filter(({ key }) => wanted(key))) {
    say(`${row.key}: once`);
    const figure = await weigh(row);
    weighed.push(figure);
    done(figure);
  }
  return weighed;
}

async function measure(place: Place, plan: Plan): Promise<Figures> {
  const { quick } = plan;
  if (plan.long) {
    // Kept one by one, so that a run that is broken off keeps the rows that were done.
    const done = (row: Weighed): void =>
      plan.keeps ? keep({ measured: [], weighed: [], long: [row] }) : undefined;
    return { measured: [], weighed: [], long: await weighAll(longRows(place, quick), plan, done) };
  }
  const measured = await measureShort(place, plan);
  const weighed = await weighAll(
    [...memoryRows(place, quick), ...sharedCounts(place, quick), ...pageRows(place, quick)],
    plan,
  );
  return { measured, weighed, long: [] };
}

async function weigh({ weigh: once, ...named }: WeighedRow): Promise<Weighed> {
  const begunAt = performance.now();
  try {
    const found = await once();
    say(`  took ${Math.round((performance.now() - begunAt) / 1000)} s`);
    return { ...named, ...found };
  } catch (error) {
    return { ...named, broken: (error as Error).message };
  }
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const plan = readPlan();
  const place = new Place();
  try {
    say('building');
    place.build();
    await place.startService();
    const figures = await measure(place, plan);
    const rows = [...figures.measured, ...figures.weighed, ...figures.long];
    const unknown = plan.unknown(rows.map(({ key }) => key));
    process.stdout.write(printed(figures));
    if (plan.keeps) keep(figures, { whole: plan.whole });
    const { musts, aims, skipped } = failures(figures);
    for (const what of skipped) say(`skipped: ${what}`);
    for (const what of aims) say(`misses its aim: ${what}`);
    for (const what of musts) say(`MISSES ITS MUST: ${what}`);
    for (const name of unknown) say(`no row is called ${name}`);
    return musts.length || unknown.length ? 1 : 0;
  } finally {
    await stopServer();
    place.leave();
  }
}

process.exitCode = await main();
