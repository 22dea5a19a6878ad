/** The benchmark: every figure in one run, as a ratio to something timed beside it. */
import { parseArgs } from 'node:util';
import { memoryRows as bulkInMemory, largeRows, smallKeys, smallRows } from './bulk.ts';
import { ledgerRows } from './ledgers.ts';
import { listenRows } from './listen.ts';
import { type Measured, type Row, race } from './measure.ts';
import { type MemoryRow, memoryRows, type Weighed } from './memory.ts';
import { Place } from './place.ts';
import { failures, keep, printed } from './report.ts';
import { sharedCounts, sharedRows, stopServer } from './shared.ts';
import { startRows } from './starts.ts';

const usage = `npm run bench -- [--only <row,…>] [--repeats <n>] [--quick]`;

interface Plan {
  readonly wanted: (key: string) => boolean;
  /** How often rows of a kind are repeated. */
  readonly repeats: (full: number, quick: number) => number;
  readonly quick: boolean;
  /** All rows, with all repeats: only such a run is kept. */
  readonly whole: boolean;
}

function plan(): Plan {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      repeats: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const only = values.only.flatMap((each) => each.split(','));
  const fixed = values.repeats === undefined ? undefined : Number(values.repeats);
  if (fixed !== undefined && !(Number.isInteger(fixed) && fixed > 0)) throw new Error(usage);
  return {
    wanted: (key) => only.length === 0 || only.some((each) => key === each || key.startsWith(`${each}-`)),
    repeats: (full, quick) => fixed ?? (values.quick ? quick : full),
    quick: values.quick,
    whole: only.length === 0 && fixed === undefined && !values.quick,
  };
}

async function measure(place: Place, { wanted, repeats, quick }: Plan): Promise<[Measured[], Weighed[]]> {
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
  const weighed: Weighed[] = [];
  for (const row of [...memoryRows(place, quick), ...sharedCounts(place, quick)].filter(({ key }) =>
    wanted(key),
  )) {
    say(`${row.key}: once`);
    weighed.push(await weigh(row));
  }
  return [measured, weighed];
}

async function weigh({ weigh: once, ...named }: MemoryRow): Promise<Weighed> {
  try {
    return { ...named, ...(await once()) };
  } catch (error) {
    return { ...named, broken: (error as Error).message };
  }
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const chosen = plan();
  const place = new Place();
  try {
    say('building');
    place.build();
    await place.startService();
    const [measured, weighed] = await measure(place, chosen);
    process.stdout.write(printed(measured, weighed));
    if (chosen.whole) keep(measured, weighed);
    const { musts, aims, skipped } = failures(measured, weighed);
    for (const what of skipped) say(`skipped: ${what}`);
    for (const what of aims) say(`misses its aim: ${what}`);
    for (const what of musts) say(`MISSES ITS MUST: ${what}`);
    return musts.length ? 1 : 0;
  } finally {
    await stopServer();
    place.leave();
  }
}

process.exitCode = await main();
