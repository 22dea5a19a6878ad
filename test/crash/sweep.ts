/** Kills a command at each of its steps, and checks after each what must hold. */

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { expect } from 'vitest';
import { casesInSlice, isLong } from '../support/slices.ts';
import { finished, type Result } from '../support/steno.ts';
import { CrashService, type Moment, Place } from './place.ts';
import { nameOf, pointsOf, type Step, startTraced, stepsOf } from './traced.ts';

export interface Crash {
  readonly service: CrashService;
  readonly place: Place;
  /** What the command printed before it was killed. */
  readonly printed: Result;
  /** Whether it was killed; else it came to its end. */
  readonly killed: boolean;
}

export interface Sweep {
  readonly args: readonly string[] | ((place: Place) => readonly string[]);
  /** Makes the home and the ledger that each point starts with. */
  prepare(place: Place, service: CrashService): Promise<unknown>;
  /** What others do while it runs; ends it if it does not end by itself. */
  during?(child: ChildProcessWithoutNullStreams, place: Place): Promise<unknown>;
  /** What must hold, whatever the point was. */
  check(crash: Crash): Promise<unknown>;
  /** Which steps `npm test` takes. */
  readonly slice?: (steps: readonly Step[]) => readonly number[];
}

export const TIME_LIMIT_MS = 900_000;

/** Kills the command at all points, one after the other; `npm test` takes those that it names. */
export async function sweep(name: string, each: Sweep): Promise<void> {
  const service = await CrashService.start();
  const template = Place.create(service);
  await each.prepare(template, service);
  const whole = await crashAt(0);
  const steps = stepsOf(whole.place.user);
  expect(whole.killed, `the command must end by itself: ${whole.printed.stderr}`).toBe(false);
  const requests = service.service.got.length;
  const broken: string[] = [];
  await checked(whole, 'not killed');
  const points = chosen(name, isLong ? pointsOf(steps) : (each.slice?.(steps) ?? []));
  for (const point of points) {
    const crash = await crashAt(point);
    const last = stepsOf(crash.place.user).at(-1);
    const step = crash.killed && last ? nameOf(last, crash.place.user.home) : 'its end';
    await checked(crash, `killed before step ${point}: ${step}`);
  }
  for (const { request, moment } of isLong && !only ? casesInSlice(requestMoments(requests), name) : []) {
    const crash = await crashAt(0, { request, moment });
    await checked(crash, `killed when request ${request} was ${moment}`);
  }
  template.remove();
  expect(broken.join('\n')).toBe('');

  async function crashAt(point: number, at?: { request: number; moment: Moment }): Promise<Crash> {
    service.begin();
    const place = template.copy(service);
    const args = typeof each.args === 'function' ? each.args(place) : each.args;
    const child = at ? place.user.start(args) : startTraced(place.user, args, point);
    child.stdin.end();
    if (at) service.killAt = { ...at, kill: () => child.kill('SIGKILL') };
    const end = finished(child);
    await each.during?.(child, place);
    const printed = await end;
    service.killAt = undefined;
    return { service, place, printed, killed: printed.code === 137 || child.signalCode === 'SIGKILL' };
  }

  /** Says at which point it was that something did not hold, and goes on: the points together show the fault. */
  async function checked(crash: Crash, where: string): Promise<void> {
    try {
      await each.check(crash);
      expect(crash.place.integrity()).toBe('ok');
    } catch (error) {
      broken.push(`${where}: ${error instanceof Error ? error.message : error}`);
    } finally {
      crash.place.remove();
    }
  }
}

/** STENO_CRASH_POINTS=12,13 tries a failure again. */
const only = process.env.STENO_CRASH_POINTS?.split(',').map(Number);

const chosen = (name: string, points: readonly number[]): readonly number[] =>
  only ? points.filter((point) => only.includes(point)) : casesInSlice(points, name);

const requestMoments = (requests: number): Array<{ request: number; moment: Moment }> =>
  Array.from({ length: requests }, (_, at) => at + 1).flatMap((request) =>
    (['received', 'half answered', 'answered'] as const).map((moment) => ({ request, moment })),
  );
