import { describe, expect, it } from 'vitest';
import { ScreenReader, textOf } from './screen.ts';
import { drawSvg, themes } from './svg.ts';

async function screenOf(text: string, columns = 40) {
  const reader = new ScreenReader(columns, 5);
  await reader.write(Buffer.from(text));
  return reader.read();
}

const drawn = async (...texts: string[]): Promise<string> =>
  drawSvg(
    {
      title: 'A <title>',
      description: 'Words',
      columns: 40,
      frames: await Promise.all(texts.map((text) => screenOf(text))),
    },
    'light',
  );

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

describe('a screen', () => {
  it('shows what is left after a line was drawn anew', async () => {
    expect(textOf(await screenOf('working\r\x1b[Kdone\r\n\r\nnext'))).toBe('done\n\nnext');
  });

  it('keeps the columns of wide characters', async () => {
    const [row = []] = await screenOf('1001  会議の録音  ok');
    expect(row.map(({ column, columns, text }) => [column, columns, text])).toEqual([
      [0, 6, '1001  '],
      [6, 10, '会議の録音'],
      [16, 4, '  ok'],
    ]);
  });
});

describe('a picture', () => {
  it('has its text at its columns, coloured, and told to those who listen', async () => {
    const svg = await drawn('\x1b[32mok\x1b[39m   a < b & c');
    expect(svg).toContain('<text x="16" y="30" textLength="16.8" class="c2">ok</text>');
    expect(svg).toContain('<text x="58" y="30" textLength="75.6">a &lt; b &amp; c</text>');
    expect(svg).toContain('<title id="title">A &lt;title&gt;</title>\n<desc id="desc">Words</desc>');
    expect(svg).not.toMatch(/<script|href|url\(|@font-face|@import/);
  });

  it('moves only where it has several frames, and not for those who want no motion', async () => {
    expect(await drawn('one')).not.toContain('@keyframes');
    const moving = await drawn('one', 'two');
    expect(moving.match(/@keyframes/g)).toHaveLength(2);
    expect(moving).toContain('@media (prefers-reduced-motion:reduce){[class^=f]{animation:none}.f1');
  });

  it.each(Object.entries(themes))('can be read in the %s theme', (_, { background, text, palette }) => {
    const faint = [text, ...palette].filter((color) => contrast(color, background) < 4.5);
    expect(faint).toEqual([]);
  });
});
