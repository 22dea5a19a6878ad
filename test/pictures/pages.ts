/** The pictures of `steno ui` in the README: its page in a real browser, with made-up data. */
import type { Browser } from 'puppeteer-core';
import { StandIn } from '../pages/stand-in.ts';
import { until } from '../support/until.ts';

export interface PagePicture {
  readonly name: string;
  readonly go: string;
  /** What it shows when it is complete. */
  readonly shows: string;
}

export const pagePictures: readonly PagePicture[] = [
  { name: 'ui-files', go: '/files', shows: '48 files' },
  { name: 'ui-file', go: '/file/100001?q=budget', shows: '1 of 10' },
];

const SIZE = { width: 1200, height: 640 };

export async function takePicture(
  browser: Browser,
  { go, shows }: PagePicture,
  scheme: 'light' | 'dark',
): Promise<Uint8Array> {
  const server = await new StandIn(48).listen();
  const page = await browser.newPage();
  try {
    await page.setViewport(SIZE);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.goto(server.url(go));
    const text = (): Promise<string> => page.evaluate('document.body.innerText') as Promise<string>;
    await until(async () => (await text()).includes(shows), `${shows} on the page`);
    await until(() => page.evaluate('document.querySelector(".link.live") !== null'), 'a live page');
    await page.evaluate('document.activeElement?.blur()');
    return await page.screenshot({ type: 'webp', quality: 88 });
  } finally {
    await page.close();
    await server.close();
  }
}

/** How far two pictures differ, from 0 to 255: the mean over a coarse grid, so that other fonts do not matter. */
export async function difference(browser: Browser, one: Uint8Array, other: Uint8Array): Promise<number> {
  const page = await browser.newPage();
  try {
    const texts = [one, other].map((each) => Buffer.from(each).toString('base64'));
    return (await page.evaluate(`(async () => {
      const grid = async (text) => {
        const image = new Image();
        image.src = 'data:image/webp;base64,' + text;
        await image.decode();
        const canvas = new OffscreenCanvas(48, 27).getContext('2d');
        canvas.imageSmoothingQuality = 'high';
        canvas.drawImage(image, 0, 0, 48, 27);
        return canvas.getImageData(0, 0, 48, 27).data;
      };
      const [one, other] = [await grid(${JSON.stringify(texts[0])}), await grid(${JSON.stringify(texts[1])})];
      return one.reduce((sum, value, at) => sum + Math.abs(value - other[at]), 0) / one.length;
    })()`)) as number;
  } finally {
    await page.close();
  }
}
