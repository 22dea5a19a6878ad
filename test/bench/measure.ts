/** Times things in turn, round after round, so that whatever else the machine does falls on all of them alike. */
import { spawnSync } from 'node:child_process';
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
  readonly must: number;
  readonly aim: number;
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
  readonly must: number;
  readonly aim: number;
  readonly rate: boolean;
  readonly ratio?: number;
  /** The middle half of the repeats lies between these. */
  readonly spread?: readonly [number, number];
  readonly peers: Partial<Record<Peer, number>>;
  readonly skipped?: string;
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
        cwd: env.HOME,
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

export function race(rows: readonly Row[], repeats: number): Measured[] {
  const able = rows.filter((row) => row.skipped === undefined);
  const turns = lineUp(able);
  const times = new Map(turns.map((subject) => [subject, [] as number[]]));
  for (const subject of times.keys()) for (let warm = 0; warm < 2; warm += 1) subject.once();
  for (let round = 0; round < repeats; round += 1) {
    const from = round % turns.length;
    for (const subject of [...turns.slice(from), ...turns.slice(0, from)]) {
      times.get(subject)?.push(subject.once());
    }
  }
  return rows.map((row) => compare(row, (subject) => times.get(subject) ?? []));
}

/** Everybody once a round; what several are measured against, twice. */
function lineUp(rows: readonly Row[]): Subject[] {
  const all = rows.flatMap(({ base, subject, peers = {} }) => [base, subject, ...Object.values(peers)]);
  const each = [...new Set(all)].filter((subject) => subject !== undefined);
  const shared = each.filter((subject) => rows.filter(({ base }) => base === subject).length > 2);
  const middle = Math.ceil(each.length / 2);
  return [...each.slice(0, middle), ...shared, ...each.slice(middle)];
}

function compare(row: Row, times: (subject: Subject) => readonly number[]): Measured {
  const { key, what, against, must, aim, rate = false, skipped } = row;
  const named = { key, what, against, must, aim, rate };
  if (skipped !== undefined) return { ...named, skipped, peers: {} };
  const base = quantile(times(row.base), 0.5);
  const ratioAt = (subject: Subject, at: number): number => {
    const time = quantile(times(subject), rate ? 1 - at : at);
    return round(rate ? base / time : time / base);
  };
  const peers = Object.entries(row.peers ?? {}).flatMap(([peer, subject]) =>
    subject ? [[peer, ratioAt(subject, 0.5)]] : [],
  );
  return {
    ...named,
    ratio: ratioAt(row.subject, 0.5),
    spread: [ratioAt(row.subject, 0.25), ratioAt(row.subject, 0.75)],
    peers: Object.fromEntries(peers),
  };
}

function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * at;
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

const round = (ratio: number): number => Math.round(ratio * 100) / 100;
