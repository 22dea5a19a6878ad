/** `steno ui` over 100,000 files in a browser: until its first page is of use, and while somebody types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, CookieData, Page } from 'puppeteer-core';
import { makeLedger } from './ledgers.ts';
import { installed, type Place } from './place.ts';
import type { Found, WeighedRow } from './weigh.ts';

const TABLE = '`ui` in Chromium, 100,000 files';
const ROUNDS = 15;

export function pageRows(place: Place, quick: boolean): WeighedRow[] {
  const row = (
    key: string,
    what: string,
    must: number,
    unit: string,
    of: (it: Opened) => Promise<Found>,
  ) => ({
    ...{ key: `page-${key}`, what, must, unit, table: TABLE },
    weigh: (): Promise<Found> => inBrowser(place, quick ? 1_000 : 100_000, of),
  });
  return [
    row('first', 'a new tab until files are shown, over one with scripts off', 1.5, 'times', firstPage),
    row('typing', 'longest task of the page while somebody types in the filter', 50, 'ms', typing),
  ];
}

interface Opened {
  readonly browser: Browser;
  readonly url: string;
  /** What its address has left. */
  readonly cookie: CookieData;
}

async function inBrowser(
  place: Place,
  files: number,
  work: (opened: Opened) => Promise<Found>,
): Promise<Found> {
  const executablePath = installed('chromium');
  if (executablePath === undefined) return { skipped: 'no chromium is installed' };
  const env = place.env(place.fresh('pages'));
  await makeLedger(env, files);
  const server = await place.start([place.bin, 'ui', '--no-open'], env);
  const { launch } = await import('puppeteer-core');
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  const browser = await launch({ executablePath, pipe: true, args });
  try {
    const address = readFileSync(join(env.BENCH_FOLDER ?? '', 'stdout'), 'utf8').trim();
    const { headers } = await fetch(address, { redirect: 'manual' });
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(headers.get('set-cookie') ?? '') ?? [];
    const cookie = { name, value, domain: '127.0.0.1', path: '/', httpOnly: true } as const;
    return await work({ browser, url: new URL('/#/files', address).href, cookie });
  } finally {
    await browser.close();
    await server.stop();
  }
}

const hasFiles = (page: Page): Promise<unknown> =>
  page.waitForFunction("/Talk \\d/.test(document.querySelector('main')?.innerText ?? '')", {
    polling: 'raf',
  });

/** In turn, each in a profile of its own: nothing is cached. */
async function firstPage({ browser, url, cookie }: Opened): Promise<Found> {
  const timed = async (isEmpty: boolean): Promise<number> => {
    const begun = performance.now();
    const context = await browser.createBrowserContext();
    await context.setCookie(cookie);
    const page = await context.newPage();
    await page.setJavaScriptEnabled(!isEmpty);
    await page.goto(url);
    if (!isEmpty) await hasFiles(page);
    const took = performance.now() - begun;
    await context.close();
    return took;
  };
  const [ours, empty]: [number[], number[]] = [[], []];
  for (let round = -2; round < ROUNDS; round += 1) {
    const pair = [await timed(false), await timed(true)] as const;
    if (round < 0) continue;
    ours.push(pair[0]);
    empty.push(pair[1]);
  }
  const [one, other] = [middle(ours), middle(empty)];
  return {
    value: Math.round((one / other) * 100) / 100,
    note: `${Math.round(one)} ms against ${Math.round(other)}`,
  };
}

const middle = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1] ?? 0;

/** As the browser itself tells it: tasks of 50 ms or less are none that it tells of. */
async function typing({ browser, url, cookie }: Opened): Promise<Found> {
  await browser.setCookie(cookie);
  const page = await browser.newPage();
  await page.goto(url);
  await hasFiles(page);
  await page.evaluate(`window.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })`);
  for (const text of ['talk', 'deliv', '1000', 'nothing at all']) {
    await page.locator('#filter').fill('');
    await page.type('#filter', text, { delay: 120 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  const tasks = (await page.evaluate('longTasks')) as number[];
  // One that is long for certain shows that long ones are told of.
  await page.evaluate('setTimeout(() => { for (const end = Date.now() + 100; Date.now() < end;); })');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  if (((await page.evaluate('longTasks.length')) as number) === tasks.length)
    throw new Error('the browser tells of no long tasks');
  return { value: Math.round(Math.max(0, ...tasks)), note: `${tasks.length} of more than 50 ms` };
}
