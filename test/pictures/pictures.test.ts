/** The pictures of the README against the program: each session is recorded anew. `npm run pictures` keeps them. */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pictureOf, sessions } from './sessions.ts';
import { drawSvg } from './svg.ts';

describe('the pictures', () => {
  it.each(sessions)(
    'show the session $name as it is',
    async (session) => {
      const picture = await pictureOf(session);
      for (const theme of ['light', 'dark'] as const) {
        const path = resolve(`.github/pictures/${session.name}-${theme}.svg`);
        await expect(drawSvg(picture, theme)).toMatchFileSnapshot(path);
      }
    },
    60_000,
  );
});
