/** What a reader of the page relies on: addresses, command lines, what is printed, and text that hides something. */
import { describe, expect, it } from 'vitest';
import { chromium } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { inPage, open, page, press, serve, shows, text, useBrowser } from './browser.ts';

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
    await page.click('nav a:first-child');
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
    await page.click('nav a:first-child');
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
    await open(server, '/file/100009');
    await shows('Its order is on hold: there is nothing to download yet', '[aria-label="Downloads"]');
    expect(await text('main')).not.toMatch(/zip|steno --sandbox transcript/);
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

  it('prints the transcript of a file that can be played with its times, as wide as the paper', async () => {
    await open(await serve(1), '/file/100001');
    await shows('thank you all');
    expect(await inPage('document.querySelectorAll("button.at").length')).toBeGreaterThan(0);
    await page.emulateMediaType('print');
    await page.setViewport({ width: 1000, height: 800 });
    await shows(/0:06\s+Grace We looked at the budget/, '.transcript');
    expect(await text()).not.toMatch(/zip|”/);
    expect(await inPage('document.querySelector(".segment p").offsetWidth')).toBeGreaterThan(900);
  });

  it('prints the list of files with room for its titles', async () => {
    await open(await serve(3), '/files');
    await shows('Board meeting 1');
    await page.emulateMediaType('print');
    await page.setViewport({ width: 1000, height: 800 });
    await until(
      () => inPage<boolean>('document.querySelector("th.title").offsetWidth > 200'),
      'a wide column',
    );
    expect(await inPage('document.querySelector(".row.current .state").offsetWidth')).toBeGreaterThan(150);
    expect(await inPage('document.querySelector(".list tbody").offsetHeight')).toBeLessThan(200);
  });

  it('prints every column of the spending on paper, which is narrower than most screens', async () => {
    await open(await serve(3), '/spend', { width: 700 });
    await shows('Spend by month');
    expect(await text('main table')).not.toContain('unpaid');
    await page.emulateMediaType('print');
    await shows(/spent\s+unpaid\s+estimated\s+files/, 'main table');
    expect(await text('h1')).toBe('Spend');
  });

  it('shows what hides in a text or turns it around, wherever it stands', async () => {
    const hidden = 'one\u202etwo\u200bthree\u0007';
    const shown = 'one\ufffdtwo\ufffdthree\ufffd';
    const server = await serve(3);
    server.said = `budget ${hidden}\nline`;
    Object.assign(server.files[0] ?? {}, { notes: hidden, tags: [hidden], feed: hidden, state: hidden });
    const event = { event: hidden, said: hidden, fields: { note: hidden } };
    server.addEvent('Talk');
    Object.assign(server.events[0] ?? {}, event);
    const pages = [
      ['/files', '.row.current .feed', '.row.current .chip', '.row.current .state'],
      ['/file/100001?q=budget', '.pairs', '.segment', 'h1 + p .state'],
      ['/events', '.row.current .event', '.row.current .what'],
      ['/event/4', 'h1', '.pairs'],
    ] as const;
    for (const [go, ...places] of pages) {
      await open(server, go);
      for (const place of places) await shows(shown, place);
      expect(await inPage('document.body.innerHTML')).not.toMatch(/[\u202e\u200b\u0007]/);
      await page.close();
    }
  });

  it('says that the report is being read, and reads it once for all groupings', async () => {
    const server = await serve(3);
    let finish = (): void => {};
    server.reporting = new Promise((resolve) => {
      finish = resolve;
    });
    await open(server, '/spend');
    await shows('Loading…', 'main');
    finish();
    await shows('Spend by month');
    expect(await text('main')).not.toContain('Loading');
    for (const by of ['sku', 'feed', 'tag', 'month']) {
      await press(by, '.tabs button');
      await shows(`Spend by ${by}`);
      await until(() => page.url().endsWith(`by=${by}`), `the address of ${by}`);
    }
    expect(server.asked.filter((path) => path === '/api/spend')).toHaveLength(1);
  });

  it('says what there is none of', async () => {
    await open(await serve(0), '/spend');
    await shows('No invoices yet.', '[aria-label="Invoices"]');
    await shows('No budget is set.', '[aria-label="Budget"]');
    await shows('Nothing was bought yet.', '[aria-label="Spend by month"]');
  });

  it('shows each tag apart, also one with a comma', async () => {
    const server = await serve(1);
    Object.assign(server.files[0] ?? {}, { tags: ['red, green', 'blue'] });
    await open(server, '/file/100001');
    await shows('red, green', '.pairs');
    const chips = await inPage(
      '[...document.querySelectorAll(".pairs .chip")].map((each) => each.innerText)',
    );
    expect(chips).toEqual(expect.arrayContaining(['red, green', 'blue']));
  });

  it('tells a screen reader what is live, and names every key', async () => {
    await open(await serve(1), '/files');
    await shows(/^Live updates:\s*live$/, '.link');
    await page.keyboard.press('?');
    const keys = ['/', '↓ ↑', 'Home End', 'Enter', 'Esc', 'Space', '?'];
    expect(
      await inPage('[...document.querySelectorAll("dialog kbd")].map((each) => each.innerText)'),
    ).toEqual(keys);
  });
});
