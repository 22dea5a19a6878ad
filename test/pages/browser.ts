/** A real browser with one page, for tests: it is opened on a server with made-up data, and read as a person reads it. */
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { until } from '../support/until.ts';
import { StandIn } from './stand-in.ts';

export const MANY = 100_000;
/** A browser starts in a second, on a loaded machine in a minute. */
const START_MS = 120_000;
export let browser: Browser;
/** The server with a great many rows. */
let many: StandIn | undefined;
/** The page that is read. */
export let page: Page;
/** What went wrong in the page: exceptions, and what its policy refused. */
export const faults: string[] = [];
export const servers: StandIn[] = [];

export const turnTo = (other: Page): void => {
  page = other;
};

/** A browser for the tests of the block that calls this; each test has a page and servers of its own. */
export function useBrowser(): void {
  beforeAll(async () => {
    // Without its sandbox, because tests may run as root; it opens only our own pages.
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--autoplay-policy=no-user-gesture-required',
    ];
    browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium', pipe: true, args });
  }, START_MS);
  afterEach(async () => {
    await page?.close().catch(() => {});
    for (const server of servers.splice(0)) await server.close();
    faults.length = 0;
  });
  afterAll(async () => {
    await browser?.close();
    await many?.close();
  });
}

export async function serve(count: number): Promise<StandIn> {
  if (count === MANY) {
    many ??= await new StandIn(MANY).listen();
    return many;
  }
  const server = await new StandIn(count).listen();
  servers.push(server);
  return server;
}

interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
}

export async function open(
  server: Pick<StandIn, 'url'>,
  go: string,
  { width = 1280, scheme = 'light' }: Look = {},
): Promise<void> {
  page = await browser.newPage();
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.goto(server.url(go));
}

/** The value of an expression in the page. */
export const inPage = <T>(expression: string): Promise<T> => page.evaluate(expression) as Promise<T>;

/** What a reader sees. */
export const text = (selector = 'body'): Promise<string> =>
  inPage(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);

export const shows = (wanted: string | RegExp, selector = 'body'): Promise<boolean> =>
  until(async () => {
    const found = await text(selector);
    return typeof wanted === 'string' ? found.includes(wanted) : wanted.test(found);
  }, `${wanted} in ${selector}`);

export const focused = (): Promise<string> =>
  inPage('document.activeElement?.innerText || document.activeElement?.id || ""');

export const focuses = (wanted: string): Promise<boolean> =>
  until(async () => (await focused()) === wanted, `${wanted} has the focus`);

/** Clicks on the first that says so, without the mouse: nothing of the selection is lost. */
export const press = (name: string, selector = 'button'): Promise<void> =>
  inPage(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .find((each) => each.innerText.trim() === ${JSON.stringify(name)}).click()`);
