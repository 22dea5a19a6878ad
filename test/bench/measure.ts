/** Times things in turn, round after round, so that whatever else the machine does falls on all of them alike. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Env } from './place.ts';

/** Does a thing once and tells how long it took, in nanoseconds. */
export interface Subject {
  once(): number;
}

export type Peer = 'curl' | 'gh';

export interface Row {
  readonly key: string;
  readonly what: string;
  readonly against: string;
  /** Absent where a figure is told for comparison only. */
  readonly must?: number;
  readonly aim?: number;
  /** A rate: the more the better. */
  readonly rate?: boolean;
  readonly subject: Subject;
  readonly base: Subject;
  readonly peers?: Partial<Record<Peer, Subject | undefined>>;
  /** Why it can't be measured. */
  readonly skipped?: string;
}

export interface Measured {
  readonly key: string;
  readonly what: string;
  readonly against: string;
  readonly must?: number;
  readonly aim?: number;
  readonly rate: boolean;
  readonly ratio?: number;
  /** The middle half of the repeats lies between these. */
  readonly spread?: readonly [number, number];
  /** The same of what it is measured against: how restless the machine was. */
  readonly noise?: readonly [number, number];
  /** The same of the processor's time, which other work on the machine disturbs less. */
  readonly cpu?: number;
  readonly peers: Partial<Record<Peer, number>>;
  readonly skipped?: string;
  /** What went wrong, where it did not work at all. */
  readonly broken?: string;
}

export interface Run {
  readonly file?: string;
  readonly args: () => readonly string[];
  readonly env: Env;
  /** What must stand on stdout: a failure is quick too. */
  readonly expect?: RegExp;
  readonly before?: () => void;
  readonly after?: () => void;
}

/** A subject that is a process, from its start to its end. */
export function run({ file = process.execPath, args, env, expect = /^/, before, after }: Run): Subject {
  return {
    once() {
      before?.();
      const line = args();
      const started = process.hrtime.bigint();
      const ended = spawnSync(file, line, {
        env,
        cwd: env.BENCH_FOLDER,
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
        maxBuffer: 2 ** 26,
      });
      const took = Number(process.hrtime.bigint() - started);
      if (ended.status !== 0 || !expect.test(ended.stdout)) {
        throw new Error(`${file} ${line.join(' ')}: exit ${ended.status}\n${ended.stdout}${ended.stderr}`);
      }
      after?.();
      return took;
    },
  };
}

interface Times {
  readonly took: number[];
  /** Processor time of all repeats, where the system tells. */
  cpu: number;
}

export function race(rows: readonly Row[], repeats: number): Measured[] {
  const broken = warmUp(rows.filter((row) => row.skipped === undefined));
  const turns = lineUp(rows.filter((row) => row.skipped === undefined && !broken.has(row)));
  const times = new Map(turns.map((subject): [Subject, Times] => [subject, { took: [], cpu: 0 }]));
  for (let round = 0; round < repeats; round += 1) {
    for (const subject of shuffled(turns)) {
      const before = childrenCpu();
      const entry = times.get(subject);
      entry?.took.push(subject.once());
      if (entry) entry.cpu += childrenCpu() - before;
    }
  }
  return rows.map((row) => {
    const trouble = broken.get(row);
    const { key, what, against, must, aim, rate = false, skipped } = row;
    const named = { key, what, against, rate, ...(must && { must }), ...(aim && { aim }) };
    if (skipped !== undefined) return { ...named, skipped, peers: {} };
    if (trouble !== undefined) return { ...named, broken: trouble, peers: {} };
    return { ...named, ...compare(row, rate, (subject) => times.get(subject) ?? { took: [], cpu: 0 }) };
  });
}

/** Runs everything twice, so that caches are as a user has them; tells which rows do not work. */
function warmUp(rows: readonly Row[]): Map<Row, string> {
  const broken = new Map<Row, string>();
  for (const row of rows) {
    try {
      for (const subject of lineUp([row])) for (let time = 0; time < 2; time += 1) subject.once();
    } catch (error) {
      broken.set(row, (error as Error).message);
    }
  }
  return broken;
}

/** Processor time of all child processes that have ended; nothing where there is no /proc. */
function childrenCpu(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[13]) + Number(fields[14]);
  } catch {
    return 0;
  }
}

/** In another order each time, for some leave the disk in a state that slows down whoever comes next. */
function shuffled(subjects: readonly Subject[]): Subject[] {
  const ranked = subjects.map((subject) => ({ subject, rank: Math.random() }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ subject }) => subject);
}

/** Everybody once a round; what several are measured against, twice. */
function lineUp(rows: readonly Row[]): Subject[] {
  const all = rows.flatMap(({ base, subject, peers = {} }) => [base, subject, ...Object.values(peers)]);
  const each = [...new Set(all)].filter((subject) => subject !== undefined);
  const shared = each.filter((subject) => rows.filter(({ base }) => base === subject).length > 2);
  const middle = Math.ceil(each.length / 2);
  return [...each.slice(0, middle), ...shared, ...each.slice(middle)];
}

type Found = Pick<Measured, 'ratio' | 'spread' | 'noise' | 'cpu' | 'peers'>;

function compare(row: Row, rate: boolean, times: (subject: Subject) => Times): Found {
  const base = quantile(times(row.base).took, 0.5);
  const ratioAt = (subject: Subject, at: number): number => {
    const time = quantile(times(subject).took, rate ? 1 - at : at);
    return round(rate ? base / time : time / base);
  };
  const peers = Object.entries(row.peers ?? {}).flatMap(([peer, subject]) =>
    subject ? [[peer, ratioAt(subject, 0.5)]] : [],
  );
  const cpu = round(meanCpu(times(row.subject)) / meanCpu(times(row.base)));
  return {
    ratio: ratioAt(row.subject, 0.5),
    spread: [ratioAt(row.subject, 0.25), ratioAt(row.subject, 0.75)],
    noise: [ratioAt(row.base, 0.25), ratioAt(row.base, 0.75)],
    ...(!rate && Number.isFinite(cpu) ? { cpu } : {}),
    peers: Object.fromEntries(peers),
  };
}

const meanCpu = ({ took, cpu }: Times): number => cpu / took.length;

function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * at;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

const round = (ratio: number): number => Math.round(ratio * 100) / 100;
