/** What a reader of the page relies on: addresses, command lines, what is printed, and text that hides something. */
import { describe, expect, it } from 'vitest';
import { chromium } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { inPage, open, page, serve, shows, text, useBrowser } from './browser.ts';

describe.skipIf(!chromium)('in a browser', { timeout: 90_000 }, () => {
  useBrowser();

  it('shows the files of one order, says so, and leaves that again', async () => {
    const server = await serve(40);
    const [, , , other] = server.files;
    if (other) other.title = 'About 4n1X';
    await open(server, '/file/100008');
    await shows('All files of order 4n1X');
    await page.click('a[href="#/files?order=4n1X"]');
    await shows('7 of 40');
    expect(await text('.list')).not.toContain('About 4n1X');
    expect(await text('.tools .command')).toContain('steno --sandbox files --order 4n1X');
    await page.click('.tools [title="Show all orders"]');
    await shows('40 files');
    expect(page.url()).toMatch(/#\/files$/);
    expect(await text('.tools')).not.toContain('4n1X');
  });

  it('shows the list that the address asks for, and after a bare link the one that was left', async () => {
    const isAt = (hash: string): Promise<boolean> =>
      until(async () => page.url().endsWith(hash), `the address ${hash}`);
    await open(await serve(300), '/files');
    await shows('300 files');
    await inPage('location.hash = "/files?q=lecture&state=Transcribing"');
    await shows(/\b\d of 300/);
    await inPage('location.hash = "/files?q=lecture"');
    await shows('50 of 300');
    await page.goBack();
    await shows(/\b\d of 300/);
    await page.goForward();
    await shows('50 of 300');
    await inPage('document.querySelector(".list").scrollTop = 925');
    await shows('Lecture 297', '.list');
    await inPage('document.querySelector("[href=\\"#/file/100243\\"]").click()');
    await shows('Lecture 243', 'h1');
    await page.keyboard.press('Escape');
    await isAt('#/files?q=lecture');
    await shows('50 of 300');
    expect(await inPage('document.querySelector(".list").scrollTop')).toBe(925);
    await page.click('nav [href="#/events"]');
    await shows('Lecture 300');
    await page.click('nav [href="#/files"]');
    await isAt('#/files?q=lecture');
    expect(await inPage('document.querySelector(".list").scrollTop')).toBe(925);
    await inPage('location.hash = "/file/100001"');
    await shows('Board meeting 1', 'h1');
    await inPage('location.hash = "/files?order=4n1X"');
    await shows('7 of 300');
    await page.goBack();
    await page.goBack();
    await isAt('#/files?q=lecture');
    await shows('50 of 300');
    await page.click('nav [href="#/files"]');
    await shows('300 files');
    await inPage('location.hash = "/spend?by=sku"');
    await shows('Spend by sku');
    await inPage('location.hash = "/spend?by=tag"');
    await shows('Spend by tag');
  });

  it('offers no download of a file that ended without a transcript, and says why', async () => {
    const server = await serve(14);
    await open(server, '/file/100014');
    await shows('Refunded: this file ended without a transcript to download', '[aria-label="Downloads"]');
    await shows(/No transcript is on this disk\.$/, '.reader');
    expect(await text('main')).not.toMatch(/↓|steno --sandbox transcript/);
    await page.close();
    await open(server, '/files?state=Refunded');
    await shows('1 of 14');
    await page.click('button.more');
    await shows('Refunded: this file ended without a transcript to download', 'dialog');
    expect(await text('dialog')).not.toMatch(/↓|steno --sandbox transcript/);
  });

  it.each([
    ['budget review', 'budget review'],
    ['"next year" plan*', `'"next year"' 'plan*'`],
    ['budget -draft', '-- budget -draft'],
    ['budget --forget -"next year"', `-- budget --forget '-"next year"'`],
    [`it's "open`, `'it'\\''s' '"open'`],
  ])('gives the command line that finds %s', async (words, line) => {
    await open(await serve(1), `/search?${new URLSearchParams({ q: words })}`);
    await until(
      async () => (await text('.tools .command')) === `steno --sandbox search ${line}`,
      `the command line of ${words}`,
    );
  });
});
