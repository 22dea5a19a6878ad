/** What is read of a feed: RSS 2.0 and Atom, as hosts write them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATOM, first, item, read, rss, SELF } from '../support/feed.ts';
import { runs } from '../support/runs.ts';

describe('RSS', () => {
  it('gives a feed and its episodes', async () => {
    const feed = await read(
      rss(
        item({
          guid: ' ep-7 ',
          title: 'Seven &\n  more',
          date: 'Tue, 03 Nov 2026 09:30:00 -0500',
          url: 'https://media.example/7.mp3?a=1&b=2',
          more: '<itunes:duration>1:02:03</itunes:duration><link>https://show.example/7</link><itunes:title>7</itunes:title>',
        }),
        `${SELF}<link>https://show.example/</link>`,
      ),
    );
    expect(feed).toMatchObject({ title: 'A show' });
    expect(feed.episodes).toEqual([
      {
        guid: 'ep-7',
        title: 'Seven & more',
        published: '2026-11-03T14:30:00.000Z',
        seconds: 3723,
        link: 'https://show.example/7',
        url: 'https://media.example/7.mp3?a=1&b=2',
        hasTranscript: false,
        problem: undefined,
        names: expect.any(Array),
        place: {
          from: expect.any(Number),
          to: expect.any(Number),
          podcastPrefix: 'podcast',
          transcripts: [],
        },
      },
    ]);
  });

  it('tells an episode with a transcript of its own', async () => {
    const more = '<podcast:transcript url="https://media.example/7.vtt" type="text/vtt"/>';
    expect(await first(rss(item({ more })))).toMatchObject({ hasTranscript: true });
    expect(await first(rss(item({ more: '<podcast:transcript url=""/>' })))).toMatchObject({
      hasTranscript: false,
    });
  });

  it('knows elements by their namespace, not by their prefix', async () => {
    const text = `<rss xmlns:a10="${ATOM}" xmlns:i="http://www.itunes.com/DTDs/PodCast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/">
      <channel><a10:link rel="self" href="https://feeds.example/x.xml"/><link xmlns="${ATOM}" rel="self" href="https://other.example/"/>
      <item><media:title>no</media:title><title>yes</title><i:duration>90</i:duration><enclosure url="https://m.example/a.mp3" type="audio/mpeg"/></item></channel></rss>`;
    const feed = await read(text);
    expect(feed.marks.saidAddresses).toEqual(['https://feeds.example/x.xml']);
    expect(feed.episodes).toMatchObject([{ title: 'yes', seconds: 90 }]);
  });

  it('is read without declared namespaces, in one of its own, and in capitals', async () => {
    const inner = `<itunes:duration>60</itunes:duration><enclosure url="https://m.example/a.mp3"/>`;
    for (const [open, close] of [
      ['<rss>', '</rss>'],
      ['<rss xmlns="http://backend.userland.com/rss2">', '</rss>'],
      ['<rss xmlns="https://example.com/ours">', '</rss>'],
      ['<RSS>', '</RSS>'],
    ])
      expect(await first(`${open}<channel><item>${inner}</item></channel>${close}`)).toMatchObject({
        seconds: 60,
      });
  });

  it('takes the first of what occurs twice, and the parts of an image or a text input for nothing', async () => {
    const head = `${SELF}<image><title>no</title><link>https://no.example/</link></image><link>https://yes.example/</link><link>https://no.example/</link>`;
    const feed = await read(rss(item({ guid: 'a', more: '<guid>b</guid>' }), head));
    expect(feed.episodes).toMatchObject([{ guid: 'a', title: '' }]);
  });

  it('leaves bare ampersands and unknown entities as they are, and knows those of HTML', async () => {
    const text = rss(
      '<item><title>Q&A &nbsp;&eacute;&mdash;&what;</title><enclosure url="https://m.example/a.mp3?a=1&b=2"/></item>',
    );
    expect(await first(text)).toMatchObject({
      title: 'Q&A é—&what;',
      url: 'https://m.example/a.mp3?a=1&b=2',
    });
  });

  it('reads CDATA, comments and emoji', async () => {
    const text = rss(
      `<item><title><!-- no --><![CDATA[<b>A</b> & ]]>&#x1F399;</title><enclosure url="https://m.example/a.mp3"/></item>`,
    );
    expect((await first(text)).title).toBe('<b>A</b> & 🎙');
  });

  it('accepts the document type of RSS 0.91', async () => {
    const doctype = '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.com/rss.dtd">';
    expect((await read(doctype + rss(item({})).replace(/^<\?.*\n/, ''))).episodes).toHaveLength(1);
  });
});

describe('Atom', () => {
  const atom = (entry: string, head = ''): string =>
    `<feed xmlns="${ATOM}"><title>A show</title><id>urn:show</id>${head}<entry>${entry}</entry></feed>`;
  const enclosure = '<link rel="enclosure" type="audio/mpeg" length="5" href="https://m.example/a.mp3"/>';

  it('gives a feed and its episodes', async () => {
    const head = '<link rel="self" href="https://feeds.example/atom"/><link href="https://show.example/"/>';
    const entry = `<id>urn:7</id><title>Seven</title><published>2026-11-03T09:30:00-05:00</published><updated>2026-11-05T00:00:00Z</updated><link href="https://show.example/7"/>${enclosure}`;
    const feed = await read(atom(entry, head));
    expect(feed).toMatchObject({ title: 'A show' });
    expect(feed.marks.saidAddresses).toEqual(['https://feeds.example/atom']);
    expect(feed.episodes).toMatchObject([
      {
        guid: 'urn:7',
        title: 'Seven',
        published: '2026-11-03T14:30:00.000Z',
        link: 'https://show.example/7',
        url: 'https://m.example/a.mp3',
      },
    ]);
  });

  it('takes the date of the last change where there is no other', async () => {
    const entry = `<updated>2026-11-05T00:00:00Z</updated>${enclosure}`;
    expect((await first(atom(entry))).published).toBe('2026-11-05T00:00:00.000Z');
  });

  it('takes the text of a title in HTML or XHTML', async () => {
    const html = `<title type="html">A &amp;amp; &lt;b&gt;B&lt;/b&gt;</title>${enclosure}`;
    expect((await first(atom(html))).title).toBe('A & B');
    const xhtml = `<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <b>B</b></div></title>${enclosure}`;
    expect((await first(atom(xhtml))).title).toBe('A B');
    expect((await first(atom(`<title>A &lt;b&gt;</title>${enclosure}`))).title).toBe('A <b>');
  });

  it('is read without its namespace, and with a prefix', async () => {
    const plain = atom(enclosure).replace(` xmlns="${ATOM}"`, '');
    expect((await read(plain)).episodes).toHaveLength(1);
    const prefixed = `<a:feed xmlns:a="${ATOM}"><a:entry><a:link rel="enclosure" href="https://m.example/a.mp3"/></a:entry></a:feed>`;
    expect((await read(prefixed)).episodes).toHaveLength(1);
  });
});

describe('the audio of an entry', () => {
  const enclosures = (...all: readonly string[]): string =>
    rss(`<item>${all.map((each) => `<enclosure ${each}/>`).join('')}</item>`);

  it('is the first audio, else the first video', async () => {
    const [pdf, video, audio, second] = [
      'url="https://m.example/a.pdf" type="application/pdf"',
      'url="https://m.example/a.mp4" type="video/mp4"',
      'url="https://m.example/a.mp3" type="audio/mpeg"',
      'url="https://m.example/low.mp3" type="audio/mpeg"',
    ];
    const urlOf = async (...all: string[]) => (await first(enclosures(...all))).url;
    expect(await urlOf(pdf, video, audio, second)).toBe('https://m.example/a.mp3');
    expect(await urlOf(pdf, video)).toBe('https://m.example/a.mp4');
  });

  it('is known by the ending of its path where its type says nothing', async () => {
    for (const type of [
      '',
      'type=""',
      'type="application/octet-stream"',
      'type="mp3"',
      'type="binary/octet-stream"',
    ])
      expect((await first(enclosures(`url="https://m.example/a.M4A?x=1" ${type}`))).url).toContain('a.M4A');
  });

  it.each([
    ['an image', 'url="https://m.example/a.jpg" type="image/jpeg"'],
    ['a text, whatever it is called', 'url="https://m.example/a.mp3" type="text/html"'],
    ['a document', 'url="https://m.example/a.pdf" type="application/pdf"'],
    ['an unknown type and ending', 'url="https://m.example/a"'],
    ['nothing', 'url="" type="audio/mpeg"'],
  ])('is not %s', async (_, enclosure) => {
    await expect(read(enclosures(enclosure))).rejects.toThrow(
      'the feed f.xml has no episodes with audio (1 entry without)',
    );
    const feed = await read(
      rss(`<item><enclosure ${enclosure}/></item>${item({ guid: 'a' })}<item><title>a post</title></item>`),
    );
    expect(feed.episodes).toMatchObject([{ guid: 'a' }]);
  });
});

describe('an address', () => {
  it('is relative to where the feed came from', async () => {
    const url = 'https://feeds.example/shows/one.xml';
    expect((await first(rss(item({ url: '../media/a.mp3' })), { url })).url).toBe(
      'https://feeds.example/media/a.mp3',
    );
  });

  it('is relative to the address that the feed in a file names, or to its web site', async () => {
    expect((await first(rss(item({ url: 'a.mp3' })))).url).toBe('https://feeds.example/a.mp3');
    const link = '<link>https://show.example/pod/</link>';
    expect((await first(rss(item({ url: 'a.mp3' }), link))).url).toBe('https://show.example/pod/a.mp3');
  });

  it('is relative to xml:base before all else', async () => {
    const text = `<feed xmlns="${ATOM}" xml:base="https://base.example/x/"><entry xml:base="y/"><link rel="enclosure" href="a.mp3"/></entry></feed>`;
    expect((await first(text, { url: 'https://feeds.example/' })).url).toBe('https://base.example/x/y/a.mp3');
  });

  it('that is relative to nothing is a problem of its episode', async () => {
    const episode = await first(rss(item({ url: 'a.mp3' }), ''));
    expect(episode.problem).toContain('relative');
    expect(episode.url).toBe('a.mp3');
    expect((await first(rss(item({ url: 'a.mp3?token=t0k3n' }), ''))).problem).not.toContain('t0k3n');
  });

  it('that is not http is a problem of its episode', async () => {
    for (const url of ['ftp://media.example/a.mp3', 'file:///etc/a.mp3', 'javascript:a.mp3', 'data:a.mp3'])
      expect((await first(rss(item({ url })))).problem).toContain('not at an http or https URL');
  });

  it('stays as it is spelled, but for what no request can hold', async () => {
    for (const url of ['https://MEDIA.example:443/%7ea.mp3?x=1#t', 'HTTP://media.example/ä.mp3'])
      expect((await first(rss(item({ url })))).url).toBe(url);
    expect((await first(rss(item({ url: 'https://media.example/my talk.mp3' })))).url).toBe(
      'https://media.example/my%20talk.mp3',
    );
    expect((await first(rss(item({ url: 'https://media.example/a\u202e.mp3' })))).url).toBe(
      'https://media.example/a%E2%80%AE.mp3',
    );
  });
});

describe('entries that are listed twice', () => {
  it('count once, where guid and audio are the same', async () => {
    const again = item({ guid: 'a', url: 'https://media.example/a.mp3?utm_source=x' });
    const feed = await read(rss(item({ guid: 'a' }) + again));
    expect(feed.episodes).toHaveLength(1);
  });

  it('count twice where the audio differs, or without a guid', async () => {
    expect(
      (await read(rss(item({ guid: 'a' }) + item({ guid: 'a', url: 'https://m.example/b.mp3' })))).episodes,
    ).toHaveLength(2);
    expect((await read(rss(item({}) + item({})))).episodes).toHaveLength(2);
  });
});

describe('encodings', () => {
  const text = rss(item({ title: 'Grüße' }));
  const latin1 = (declared: string): Buffer => Buffer.from(text.replace('UTF-8', declared), 'latin1');
  const utf16 = (withMark: boolean): Buffer =>
    Buffer.from((withMark ? '\ufeff' : '') + text.replace('UTF-8', 'UTF-16'), 'utf16le');

  it.each([
    ['UTF-8', Buffer.from(text), ''],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`), ''],
    ['UTF-8 after blank lines', Buffer.from(`\ufeff\n\n ${text}`), ''],
    ['UTF-8 that says nothing', Buffer.from(text.replace(/^<\?.*\n/, '')), ''],
    ['UTF-16 with a mark', utf16(true), ''],
    ['UTF-16 without a mark', utf16(false), ''],
    ['UTF-16 in the other order', utf16(true).swap16(), ''],
    ['UTF-16 in the other order without a mark', utf16(false).swap16(), ''],
    ['ISO-8859-1 by the feed', latin1('ISO-8859-1'), ''],
    ['Windows-1252 by the feed', latin1('windows-1252'), 'application/rss+xml'],
    ['ISO-8859-1 by the server', latin1('UTF-8'), 'text/xml; charset=iso-8859-1'],
    ['ISO-8859-1 by the server, in quotes', latin1('UTF-8'), 'text/xml;charset="ISO-8859-1"; x=y'],
    ['UTF-8 by the feed, of a server that is wrong', Buffer.from(text), 'text/xml; charset=iso-8859-1'],
    ['UTF-8 that says it is UTF-16', Buffer.from(text.replace('UTF-8', 'utf-16')), ''],
    ['ISO-8859-1, of a server that names what nobody knows', latin1('ISO-8859-1'), 'text/xml; charset=x-y'],
  ])('%s', async (_, bytes, contentType) => {
    expect((await first(bytes, { contentType })).title).toBe('Grüße');
  });

  it('replaces what is not valid, because one bad letter must not hide a feed', async () => {
    expect((await first(latin1('UTF-8'))).title).toBe('Gr\ufffd\ufffde');
  });

  it('refuses one that it does not know', async () => {
    await expect(read(latin1('x-klingon'))).rejects.toThrow('has an unknown encoding: x-klingon');
  });
});

describe('any title', () => {
  it('comes as it was written, on one line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), async (title) => {
        const valid = title.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/gu, '');
        const episode = await first(rss(item({ title: valid })));
        expect(episode.title).toBe(valid.replace(/\s+/g, ' ').trim());
      }),
      { numRuns: runs(200) },
    );
  });

  it('is cut at a thousand characters, never within one', async () => {
    const { title } = await first(rss(item({ title: `a${'🎙'.repeat(600)}` })));
    expect(title).toHaveLength(999);
    expect(title).toBe(`a${'🎙'.repeat(499)}`);
  });
});
