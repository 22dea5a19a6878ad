/** Feeds that are none, that are broken, and that are written to do harm. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StenoError } from '../../src/lib/errors.ts';
import { item, read, rss } from '../support/feed.ts';
import { runs } from '../support/runs.ts';

const failureOf = async (text: string | Buffer): Promise<StenoError> => {
  const error: unknown = await read(text).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StenoError)) throw new Error(`no refusal, but ${error}`);
  return error;
};

const laughs = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">${Array.from(
  { length: 9 },
  (_, at) => `<!ENTITY a${at} "${`&a${at ? at - 1 : ''};`.repeat(10)}">`,
).join('')}]><rss><channel><title>&a8;</title></channel></rss>`;

describe('what is no feed is refused in one line with exit 2', () => {
  it.each([
    ['nothing', '', 'the feed f.xml is empty'],
    ['blanks', ' \n\t ', 'the feed f.xml is empty'],
    ['a web page', '<!DOCTYPE html><html><head><meta><br></html>', 'is a web page, not a feed'],
    ['a web page in capitals', '<!doctype HTML PUBLIC "x"><p>', 'is a web page, not a feed'],
    ['a web page without a type', '<html lang="en"><body>', 'is a web page, not a feed'],
    ['JSON', '{"version":"https://jsonfeed.org/version/1.1"}', 'is not a feed'],
    ['a list of URLs', 'https://example.com/a.mp3\n', 'is not a feed'],
    ['another document', '<opml version="2.0"><body/></opml>', "an XML document 'opml', not RSS 2.0 or Atom"],
    ['RSS 1.0', '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', 'is RSS 1.0'],
    ['a feed without entries', rss(''), 'has no episodes with audio (no entries)'],
    ['a feed without audio', rss('<item><title>a</title></item>'.repeat(2)), '(2 entries without)'],
    ['a feed that was cut off', rss(item({})).slice(0, -20), 'not valid XML'],
    ['a feed that was cut off in a tag', rss(item({})).slice(0, -3), 'not valid XML'],
    ['a feed that was cut off in an entity', '<rss><channel><title>a&am', 'not valid XML'],
    ['elements across each other', '<rss><channel><item></channel></item></rss>', 'line 1: not valid XML'],
    ['two documents', `${rss(item({}))}<rss></rss>`, 'line 4: a second document starts'],
    ['an attribute that is no name', '<rss a=1></rss>', 'not valid XML'],
    ['an attribute named as a method', '<rss hasOwnProperty="1" b="2"></rss>', 'it is not valid XML'],
    ['a billion laughs', laughs, 'declares entities of its own'],
    [
      'an entity of another file',
      '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><title>&x;</title></channel></rss>',
      'declares entities of its own',
    ],
    ['a zip', Buffer.from('PK\u0003\u0004\0\0'), 'is not a feed'],
    ['an mp3', Buffer.from([0xff, 0xfb, 0x90, 0x00]), 'is not a feed'],
  ])('%s', async (_, text, message) => {
    const error = await failureOf(text);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('\n');
    expect(error.exitCode).toBe(2);
  });

  it('names the feed that a web page names', async () => {
    const page = (link: string): string =>
      `<!DOCTYPE html><html><head><link rel="icon" href="/i">${link}</head>`;
    const hintOf = async (text: string, url?: string): Promise<string> =>
      String(((await read(text, { url }).catch((error: StenoError) => error)) as StenoError).hint);
    const link = '<link rel="alternate" type="application/rss+xml" title="A" href="/feed.xml?a=1&amp;b=2">';
    expect(await hintOf(page(link), 'https://show.example/x/')).toBe(
      'it names this feed: https://show.example/feed.xml?a=1&b=2',
    );
    expect(await hintOf(page(link))).toContain('look for the RSS link on the page');
    expect(await hintOf(page(link.replace('/feed', 'ftp://x.example/feed')))).toContain(
      'look for the RSS link on the page',
    );
    expect(await hintOf(page('<link '.repeat(200_000)))).toContain('look for the RSS link on the page');
  });

  it('names the line', async () => {
    expect((await failureOf(`<rss>\n<channel>\n<item></x>`)).message).toContain('line 3: not valid XML');
  });
});

const SIZE = 400_000;

describe('what is written to take long is refused', () => {
  const endless: ReadonlyArray<readonly [string, (length: number) => string]> = [
    ['a declaration', (length) => `<rss><!${'a'.repeat(length)}`],
    ['declarations', (length) => `<rss>${`<!${'a'.repeat(60_000)}>`.repeat(length / 60_000)}`],
    ['ampersands', (length) => `<rss>${'&'.repeat(length)}`],
    ['unknown entities', (length) => `<rss>${'&a;'.repeat(length / 3)}`],
    ['an entity', (length) => `<rss>&${'a'.repeat(length)}`],
    [
      'attributes',
      (length) => `<rss ${Array.from({ length: length / 8 }, (_, at) => `a${at}=""`).join(' ')}>`,
    ],
    ['nested elements', (length) => '<a>'.repeat(length / 3).replace('<a>', '<rss>')],
    ['a title', (length) => `<rss><channel><title>${'x'.repeat(length)}`],
    ['open brackets', (length) => `<rss>${'<'.repeat(length)}`],
    ['almost the end of CDATA', (length) => `<rss><channel><![CDATA[${']]'.repeat(length / 2)}`],
    ['almost the end of a comment', (length) => `<rss><!--${'- '.repeat(length / 2)}`],
    ['a document type', (length) => `<!DOCTYPE ${'['.repeat(length)}`],
    ['blanks', (length) => `<rss>${' '.repeat(length)}`],
    ['blanks in a tag', (length) => `<rss ${' '.repeat(length)}`],
    ['a tag', (length) => `<${'a'.repeat(length)}`],
    ['prefixes', (length) => `<rss>${'<a xmlns:b="c">'.repeat(200)}${'<b:c/>'.repeat(length / 6)}`],
  ];

  it.each(endless)('%s', async (_, make) => {
    expect((await failureOf(make(SIZE))).exitCode).toBe(2);
  });

  it('an attribute or a comment of more than a megabyte', async () => {
    expect((await failureOf(`<rss a="${'x'.repeat(2_000_000)}"/>`)).message).toContain('not valid XML');
    expect((await failureOf(`<rss><!--${'x'.repeat(2_000_000)}--></rss>`)).message).toContain(
      'not valid XML',
    );
  });

  it('an entity that does not end, though the document does', async () => {
    expect((await failureOf(`<rss>&${'a'.repeat(2_000_000)};</rss>`)).message).toContain('does not end');
  });

  it('more entries than any feed has', async () => {
    expect((await failureOf(`<rss><channel>${'<item/>'.repeat(100_001)}`)).message).toContain(
      'more than 100000 entries',
    );
  });
});

describe('a long feed', () => {
  const feedOf = (length: number): string =>
    rss(
      Array.from({ length }, (_, at) =>
        item({
          guid: `guid-${at}`,
          title: `Episode ${at}`,
          url: `https://media.example/${at}.mp3?token=${at}`,
          more: `<description>${'notes &amp; more '.repeat(20)}</description>`,
        }),
      ).join(''),
    );

  it('of ten thousand episodes is read', async () => {
    const { episodes } = await read(feedOf(10_000));
    expect(episodes).toHaveLength(10_000);
    expect(episodes[9_999]).toMatchObject({ guid: 'guid-9999', title: 'Episode 9999' });
    expect(new Set(episodes.flatMap(({ names }) => names)).size).toBe(10_000);
  });

  it('is left when the user interrupts', async () => {
    const user = new AbortController();
    setImmediate(() => user.abort());
    await expect(read(feedOf(20_000), { signal: user.signal })).rejects.toMatchObject({ exitCode: 130 });
  });

  it('takes time in proportion to its length', async () => {
    // Where it were quadratic, four times the length would take sixteen times the time.
    const timeOf = async (length: number): Promise<number> => {
      const text = feedOf(length);
      const runs: number[] = [];
      for (let run = 0; run < 3; run += 1) {
        const start = process.cpuUsage();
        await read(text);
        const { user, system } = process.cpuUsage(start);
        runs.push(user + system);
      }
      return Math.min(...runs);
    };
    await timeOf(500);
    expect((await timeOf(4_000)) / (await timeOf(1_000))).toBeLessThan(9);
  });
});

describe('any bytes', () => {
  const parts = fc.constantFrom(
    ...['<rss>', '<channel>', '<item>', '</item>', '</channel>', '</rss>', '<feed>', '<entry>', '<title>'],
    ...[
      '</title>',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<?xml ',
      '?>',
      '&amp;',
      '&',
      ';',
      '<',
      '>',
      '"',
      '\0',
    ],
    ...[
      '<!DOCTYPE rss>',
      '<enclosure url="https://m.example/a.mp3"/>',
      '<guid>',
      '</guid>',
      'text',
      '\n',
      '\ufffe',
    ],
  );

  it('give a feed or a refusal with exit 2, never another error', async () => {
    const texts = fc.array(parts, { maxLength: 40 }).map((all) => Buffer.from(all.join('')));
    const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
    const contentTypes = fc.constantFrom('', 'text/xml; charset=utf-16', 'text/xml; charset=shift_jis', 'x');
    await fc.assert(
      fc.asyncProperty(fc.oneof(texts, bytes), contentTypes, async (given, contentType) => {
        const outcome = await read(given, { contentType }).catch((error: unknown) => error);
        if (outcome instanceof StenoError) expect(outcome.exitCode).toBe(2);
        else expect(outcome).toHaveProperty('episodes');
      }),
      { numRuns: runs(1_000) },
    );
  });
});
