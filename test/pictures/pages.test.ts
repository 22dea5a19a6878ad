/** The pictures of the page in the README against the page: each is taken anew. `npm run pictures` keeps them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromium } from '../support/browser.ts';
import { difference, pagePictures, takePicture } from './pages.ts';

/** Letters that are drawn in another way make less, another page makes more. */
const MAX_DIFFERENCE = 6;
/** What a clone has to fetch for each. */
const MAX_BYTES = 80_000;

describe.skipIf(!chromium)('the pictures of the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    // Without its sandbox, because tests may run as root; it opens only our own page.
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'];
    browser = await puppeteer.launch({ executablePath: '/usr/bin/chromium', pipe: true, args });
  }, 120_000);
  afterAll(() => browser?.close());

  it.each(pagePictures)('show $go as it is', { timeout: 60_000 }, async (picture) => {
    for (const scheme of ['light', 'dark'] as const) {
      const path = `.github/pictures/${picture.name}-${scheme}.webp`;
      const taken = await takePicture(browser, picture, scheme);
      const kept = existsSync(path) ? readFileSync(path) : undefined;
      const far = kept ? await difference(browser, kept, taken) : 255;
      const isUpdate = expect.getState().snapshotState.snapshotUpdateState === 'all';
      if (isUpdate && far > MAX_DIFFERENCE / 3) writeFileSync(path, taken);
      else expect(far, path).toBeLessThan(MAX_DIFFERENCE);
      expect(readFileSync(path).length).toBeLessThan(MAX_BYTES);
    }
  });
});
