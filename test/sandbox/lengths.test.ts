/** How long the audio behind a URL is, which the sandbox never fetches. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { item, rss } from '../support/feed.ts';
import { type Fields, open, order } from '../support/sandbox.ts';
import { User } from '../support/steno.ts';

it.each([
  ['?minutes=35', 35, 30.1],
  ['?a=1&minutes=12.5', 12.5, 11.18],
  ['?minutes=0.2', 0.2, 0.86],
  ['?minutes=35#minutes=4', 35, 30.1],
])('%s sets the length; a minute that has begun is billed', async (query, duration, total) => {
  const client = await open({ speed: 0 });
  const { file } = await order(client, `https://a.example/talk.mp3${query}`);
  const { audiofile } = (await client.get(`/audiofile/${file}`)).data as { audiofile: Fields };
  expect(audiofile).toMatchObject({ duration, total });
});

it.each(['', '?minutes=0', '?minutes=-3', '?minutes=ten', '?minutes=1e3', '?minutes=99999', '?minutes='])(
  "audio whose URL ends in '%s' has a believable length, always the same",
  async (query) => {
    const [one, two] = [await open({ speed: 0 }), await open({ speed: 0 })];
    const lengths: number[] = [];
    for (const client of [one, two]) {
      const { file } = await order(client, `https://a.example/talk.mp3${query}`);
      const { audiofile } = (await client.get(`/audiofile/${file}`)).data as { audiofile: Fields };
      lengths.push(Number(audiofile.duration));
    }
    expect(lengths[0]).toBeGreaterThanOrEqual(8);
    expect(lengths[0]).toBeLessThan(28);
    expect(lengths[1]).toBe(lengths[0]);
  },
);

it('episodes of any feed have the length that the feed says, with --sandbox', async () => {
  const user = new User();
  const episode = (name: string, duration: string): string =>
    item({
      guid: name,
      title: name,
      url: `https://media.example/${name}.mp3`,
      more: `<itunes:duration>${duration}</itunes:duration>`,
    });
  writeFileSync(join(user.home, 'feed.xml'), rss(episode('one', '35:30') + episode('two', '1:02:00')));
  const line = ['--sandbox', 'order', '--feed', 'feed.xml', '--latest', '2', '--sku', 'TRANS14'];
  const { code, stderr } = await user.run(line);
  expect(code, stderr).toBe(0);
  const { stdout } = await user.run(['--sandbox', 'files', '--refresh', '--json']);
  const files = JSON.parse(stdout) as Array<{ url: string; minutes: number; total: number }>;
  expect(files.map(({ url, minutes, total }) => [url, minutes, total]).sort()).toEqual([
    ['https://media.example/one.mp3', 35.5, 30.96],
    ['https://media.example/two.mp3', 62, 53.32],
  ]);
});
