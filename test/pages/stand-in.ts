/** A server that speaks as `steno ui` does, with made-up data of any size, for the tests of its page. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const TOKEN = 'made-up-token';

const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
};

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src http: https:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const states = [
  ...['Delivered', 'Delivered', 'Transcribing', 'Delivered', 'Awaiting Edit', 'Delivered', 'Pre-Processing'],
  ...['Delivered', 'On Hold', 'Order Processing', 'Delivered', 'Error', 'Technical Difficulty', 'Refunded'],
];
const subjects = [
  'Board meeting',
  'Interview with Ada',
  'Lecture',
  'Oral history',
  'Field notes',
  'Q3 earnings call',
];
const feeds = ['The Long View', 'Night Science', null, null];
const HOUR = 3_600_000;

export interface StandInFile {
  readonly [name: string]: unknown;
  readonly audiofile: string;
  state: string;
  title: string;
}

function fileOf(at: number): StandInFile {
  const state = states[at % states.length] ?? '';
  const ended = { Delivered: 'delivered', Error: 'unfinished', Refunded: 'unfinished' }[state] ?? null;
  const feed = feeds[at % feeds.length] ?? null;
  return {
    ...{ audiofile: String(100_001 + at), state, ended, late: state === 'Awaiting Edit' && at % 2 === 0 },
    title: `${subjects[at % subjects.length]} ${at + 1}`,
    ...{
      minutes: (at % 90) + 3.25,
      total: ((at % 90) + 3) * 1.5,
      currency: 'USD',
      order: `4n${Math.floor(at / 7)}X`,
    },
    ordered_at: new Date(Date.now() - at * 0.7 * HOUR - 60_000).toISOString(),
    changed_at: new Date(Date.now() - at * 0.3 * HOUR).toISOString(),
    ...{ checked_at: new Date(Date.now() - 40_000).toISOString(), published_at: null },
    ...{ url: `https://example.com/audio/${at}.mp3`, link: null, key: null, guid: null, source: null, feed },
    ...{
      tags: at % 3 ? [] : ['quarterly'],
      skus: ['TRANS14', 'TSTMP1'],
      names: ['Ada', 'Grace'],
      invoices: ['881'],
    },
    ...{ hold: state === 'On Hold' ? 'billing' : null, notes: null, remark: null, test: false },
    by: { user: 'ada', host: 'desk', job: null, actor: null },
    downloads: [],
  };
}

const says = [
  'Good morning, and thank you all for coming on such short notice.',
  'We looked at the budget for next year twice, and the second time it was smaller.\nNobody could say why.',
  'That is the part I never understood. Was it [inaudible] or somebody in the other office?',
  'It was both. One of them had the figures, and the other one had the courage to write them down.',
];

const segments = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...{ line: at * 3 + 1, start: at * 6.5, end: at * 6.5 + 6, speaker: ['Ada', 'Grace', 'Man 2'][at % 3] },
    text: says[at % says.length] ?? '',
  }));

/** Where the transcripts speak of a budget. */
const hits = (count: number) =>
  segments(count)
    .map((each, at, all) => {
      const [audiofile, title, path] = [
        String(100_001 + (at >> 3)),
        `Lecture ${at >> 3}`,
        `/t/${at >> 3}.vtt`,
      ];
      const around = { before: [all[at - 1]?.text ?? ''], after: [all[at + 1]?.text ?? ''] };
      return { ...each, audiofile, title, path, ...around };
    })
    .filter(({ text }) => text.includes('budget'));

export interface StandInEvent {
  readonly [name: string]: unknown;
  readonly n: number;
}

const sentences: Readonly<Record<string, string>> = {
  TRANSCRIPT_COMPLETE: 'The transcript is ready',
  ORDER_ON_HOLD: 'Held (billing): work starts once the hold is released',
  REFUND_ISSUED: '5.00 went back to the balance',
  DIFFICULT_AUDIO: 'The audio is difficult; DIFFQ2 may be needed',
};

function eventOf(n: number, title: string): StandInEvent {
  const names = [
    'TRANSCRIPT_COMPLETE',
    'ORDER_ON_HOLD',
    'TRANSCRIPT_COMPLETE',
    'REFUND_ISSUED',
    'DIFFICULT_AUDIO',
  ];
  const [event, audiofile, order] = [names[n % names.length] ?? '', String(100_000 + n), `4n${n}X`];
  return {
    ...{ n, source: n % 9 ? 'received' : 'found', event, webhook_version: '1.0', audiofile, order, title },
    received_at: new Date(Date.now() - Math.max(0, 100_000 - n) * 60_000).toISOString(),
    ...{ key: null, tags: [], feed: null, fields_left_out: 0 },
    said: sentences[event] ?? '',
    fields: { event, audiofile, order, originallink: `https://example.com/audio/${n}.mp3` },
  };
}

const amounts = { currency: 'USD', refunded: 0, unmeasured: 0, unbilled: 1 };

function spendOf(count: number) {
  const months = Array.from({ length: Math.min(count, 14) }, (_, at) => ({
    month: new Date(Date.UTC(2026, 10 - at, 1)).toISOString().slice(0, 7),
    ...{
      ...amounts,
      spent: 1800.5 - at * 97.25,
      unpaid: at ? 0 : 240,
      estimated: at ? 0 : 310.75,
      minutes: 900,
      files: 31,
    },
  }));
  const rows = (by: string) =>
    Array.from({ length: Math.min(count, 5000) }, (_, at) => ({
      ...{
        [by]: `${by} ${at + 1}`,
        ...amounts,
        spent: 900 / (at + 1),
        unpaid: 0,
        estimated: 0,
        minutes: 30,
        files: 3,
      },
    }));
  const totals = count
    ? [{ ...amounts, spent: '123456789012345678.50', unpaid: 240, estimated: 310.75, minutes: 9, files: 9 }]
    : [];
  const waiting = Array.from({ length: Math.min(count, 1000) }, (_, at) => ({
    ...{
      kind: ['open', 'held', 'unclear'][at % 3],
      audiofile: at % 3 === 2 ? null : '100003',
      attempt: at % 3 === 2 ? 17 : null,
    },
    ...{
      title: `Lecture ${at}`,
      order: '4n1X',
      state: 'Awaiting Edit',
      ordered_at: '2026-11-10T10:00:00.000Z',
      skus: [],
    },
    ...{
      due_at: '2026-11-17T10:00:00.000Z',
      late_seconds: at % 2 ? null : 90_000,
      url: 'https://example.com/a.mp3',
    },
  }));
  return {
    report: {
      ...{ made_at: '', since: null, until: null, notes: count ? ['2 files have no invoice yet'] : [] },
      counts: { delivered: count, open: waiting.length, held: 1, unclear: 1, late: count ? 2 : 0 },
      ...{
        totals,
        months,
        skus: rows('sku'),
        orders: rows('order'),
        feeds: rows('feed'),
        tags: rows('tag'),
        waiting,
      },
      turnaround: count
        ? [
            {
              sku: 'TRANS14',
              target_days: 14,
              delivered: 30,
              on_time: 28,
              late: 2,
              median_seconds: 500_000,
              slowest_seconds: 1_900_000,
              unmeasured: 0,
            },
          ]
        : [],
    },
    budgets: {
      budgets: count
        ? [
            {
              budget: '2500/month',
              source: 'ledger',
              from: '2026-11-01T00:00:00.000Z',
              until: '2026-12-01T00:00:00.000Z',
              billed: 2040.5,
              estimated: 310.75,
              refunded: 0,
              unknown: 1,
              left: 148.75,
              currency: 'USD',
              limit: 2500,
              not_counted: [],
              set_by: 'ada',
              set_at: null,
            },
          ]
        : [],
    },
    invoices: Array.from({ length: Math.min(count, 6) }, (_, at) => ({
      ...{ invoice: String(881 - at), state: at ? 'PAID' : 'SUBMITTED', total: 420.5 - at, currency: 'USD' },
      created: new Date(Date.UTC(2026, 10 - at, 2)).toISOString(),
      items: [
        { item: '1', sku: 'TRANS14', quantity: 412, price: 1, audiofile: '100001', total: 412 },
        { item: '2', sku: 'TSTMP1', quantity: 8.5, price: 1, audiofile: null, total: 8.5 - at },
      ],
    })),
    uncertain: count ? [{ currency: 'USD', amount: '57.25', unknown: 1 }] : [],
  };
}

const healthOf = (count: number) => ({
  checks: [
    { check: 'node', status: 'ok', message: 'Node 20.20.2', hint: null },
    {
      check: 'key',
      status: 'warn',
      message: 'the key is in the environment',
      hint: 'keep it with: steno login',
    },
    {
      check: 'webhook',
      status: 'fail',
      message: 'nobody answers at https://hooks.example.com/x',
      hint: 'start: steno listen',
    },
    { check: 'ledger', status: 'ok', message: `${count} files`, hint: null },
  ],
  listeners: count
    ? [
        {
          host: 'desk',
          pid: 4711,
          started_at: new Date(Date.now() - 3 * HOUR).toISOString(),
          seen_at: new Date().toISOString(),
          events: null,
        },
      ]
    : [],
  attempts: Array.from({ length: Math.min(count, 3) }, (_, at) => ({
    ...{
      attempt: 17 + at,
      status: 'unclear',
      kind: at ? 'refund' : 'order',
      attempted_at: '2026-11-17T08:00:00.000Z',
    },
    ...{
      urls: ['https://example.com/a.mp3'],
      audiofiles: at ? ['100003'] : [],
      detail: 'the connection broke after sending',
      skus: [],
    },
    settle: [at ? '--placed' : '--placed <order>', '--not-placed'].map(
      (end) => `steno --sandbox attempts settle ${17 + at} ${end}`,
    ),
  })),
});

type Answer = unknown | undefined;

const kinds = ['open', 'held', 'failed', 'overdue', 'delivered'];

function isOfKind({ state, ended, hold, late }: StandInFile, kind: string): boolean {
  if (kind === 'overdue') return late === true;
  if (ended) return kind === (ended === 'delivered' ? 'delivered' : state === 'Error' && 'failed');
  return kind === (hold ? 'held' : 'open');
}

/** How many files and events there are, and what is heard of them. */
export class StandIn {
  readonly files: StandInFile[];
  readonly events: StandInEvent[];
  readonly posted: Array<{ readonly path: string; readonly body: Record<string, unknown> }> = [];
  readonly denied: string[] = [];
  /** What the pages asked for. */
  readonly asked: string[] = [];
  /** Until it is kept, no report is there. */
  reporting: Promise<void> = Promise.resolve();
  segments = 40;
  /** Of the first segment. */
  said = says[0] ?? '';
  readonly #count: number;
  readonly #changes = { files: 0, events: 0, spend: 0 };
  /** Why its ledger can't be read. */
  trouble: string | undefined;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  constructor(count: number) {
    this.#count = count;
    this.files = Array.from({ length: count }, (_, at) => fileOf(at));
    this.events = Array.from({ length: count }, (_, at) => eventOf(count - at, `Lecture ${count - at}`));
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(go: string): string {
    return `http://127.0.0.1:${this.port}/open/${TOKEN}?${new URLSearchParams({ go })}`;
  }

  /** How many tabs are told of changes. */
  changed(topic: keyof StandIn['marks']): void {
    this.#changes[topic] += 1;
  }

  get marks(): Readonly<Record<'files' | 'events' | 'spend', string>> {
    const { files, events, spend } = this.#changes;
    return { files: String(files), events: String(events), spend: String(spend) };
  }

  addEvent(title: string): number {
    const n = (this.events[0]?.n ?? 0) + 1;
    this.events.unshift({ ...eventOf(n, title), received_at: new Date().toISOString() });
    this.changed('events');
    return n;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-store');
    const cookie = `steno-${this.port}=made-up`;
    if (pathname === `/open/${TOKEN}`) {
      response.setHeader('Set-Cookie', `${cookie}; HttpOnly; SameSite=Strict; Path=/`);
      return void response.writeHead(303, { Location: `/#${searchParams.get('go')}` }).end();
    }
    if (!pathname.startsWith('/api/')) return sendPage(response, pathname);
    if (!request.headers.cookie?.split('; ').includes(cookie)) {
      this.denied.push(pathname);
      return sendJson(response, { error: { code: 'auth', message: 'no access' } }, 403);
    }
    if (pathname === '/api/live')
      return sendJson(response, this.trouble === undefined ? this.marks : { trouble: this.trouble });
    if (request.method === 'POST') return this.#act(pathname, request, response);
    this.asked.push(pathname);
    if (pathname === '/api/spend') await this.reporting;
    const answer = this.#get(pathname, searchParams);
    if (pathname.endsWith('.csv')) return void response.setHeader('Content-Type', 'text/csv').end(answer);
    if (answer === undefined)
      sendJson(response, { error: { message: 'no such thing', hint: 'list them' } }, 404);
    else sendJson(response, answer);
  }

  async #act(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse((await request.toArray()).join('')) as Record<string, unknown>;
    this.posted.push({ path, body });
    const asked = [body.ids, body.formats].map((each) => (Array.isArray(each) ? each.length : 0));
    if (path.endsWith('/downloads'))
      sendJson(response, {
        folder: '/home/ada',
        saved: Array((asked[0] ?? 0) * (asked[1] ?? 0)).fill({}),
        errors: [],
      });
    else if (path.endsWith('/zip')) response.end('PK');
    else if (String(body.to).includes('down'))
      sendJson(response, {
        n: 1,
        target: body.to,
        outcome: null,
        error: { message: 'nobody answers there' },
      });
    else sendJson(response, { n: 1, target: body.to, outcome: '200 OK' });
  }

  #get(path: string, query: URLSearchParams): Answer {
    const [, , what, id = '', part] = path.split('/');
    switch ([what, part].filter(Boolean).join(' ')) {
      case 'about':
        return {
          profile: 'default',
          sandbox: true,
          ledger: 'local',
          command: 'steno --sandbox',
        };
      case 'counts': {
        const counts = kinds.map((kind) => [kind, this.files.filter((file) => isOfKind(file, kind)).length]);
        return { ...Object.fromEntries(counts), uncertain: Math.min(this.#count, 3) };
      }
      case 'attempts':
        return healthOf(this.#count).attempts;
      case 'files':
        return this.#listFiles(query);
      case 'file':
        return this.#file(id);
      case 'file transcript':
        return {
          ...{ format: query.get('format'), truncated: false },
          segments: segments(this.segments).map((each, at) => (at ? each : { ...each, text: this.said })),
        };
      case 'file check':
        return [
          { line: 7, start: 13, rule: 'inaudible', severity: 'error', text: '[inaudible]' },
          { line: 7, start: null, rule: 'speaker', severity: 'warning', text: 'Man 2' },
        ];
      case 'search':
        return this.#count ? hits(Math.min(this.#count + 1, 200)) : [];
      case 'events':
        return this.#listEvents(query);
      case 'event':
        return this.#event(Number(id));
      case 'spend':
        return spendOf(this.#count);
      case 'spend.csv':
        return 'month,spent\r\n2026-11,1800.50\r\n';
      case 'health':
        return healthOf(this.#count);
      default:
        return undefined;
    }
  }

  #listFiles(query: URLSearchParams): Answer {
    const words = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const state = query.get('state');
    const order = query.get('order');
    const sort = query.get('sort') ?? 'ordered_at';
    const kind = query.get('kind');
    let found = this.files.filter((file) => {
      const text =
        `${file.title} ${file.audiofile} ${file.order} ${file.state} ${file.tags} ${file.feed}`.toLowerCase();
      if ((order && file.order !== order) || (kind && !isOfKind(file, kind))) return false;
      return (!state || file.state === state) && words.every((word) => text.includes(word));
    });
    if (sort !== 'ordered_at') found = found.sort((a, b) => (String(a[sort]) < String(b[sort]) ? -1 : 1));
    if (sort !== 'ordered_at' && query.get('dir') === 'desc') found.reverse();
    const offset = Number(query.get('offset'));
    return {
      ...{ total: found.length, all: this.files.length },
      rows: found.slice(offset, offset + Number(query.get('limit'))),
    };
  }

  #file(id: string): Answer {
    const file = this.files.find(({ audiofile }) => audiofile === id);
    const at = new Date(Date.now() - 2 * HOUR).toISOString();
    return (
      file && {
        file,
        history: [
          { at, what: 'download', by: '', text: 'vtt saved as /home/ada/talk.vtt' },
          { at, what: 'TRANSCRIPT_COMPLETE', by: '', text: 'the transcript is ready', event: 1 },
          { at: file.ordered_at, what: 'order', by: 'ada@desk', text: 'placed; TRANS14; 42.00 USD (billed)' },
        ],
        transcripts:
          file.ended === 'delivered'
            ? [{ format: 'vtt', path: '/home/ada/talk.vtt', bytes: 48_211, at, here: true }]
            : [],
        playable: `http://127.0.0.1:${this.port}/audio.wav`,
      }
    );
  }

  #listEvents(query: URLSearchParams): Answer {
    const before = Number(query.get('before') ?? Number.POSITIVE_INFINITY);
    const [word, name] = [(query.get('q') ?? '').toLowerCase(), query.get('event')];
    const found = this.events.filter(
      (each) =>
        (!name || each.event === name) && (!word || JSON.stringify(each).toLowerCase().includes(word)),
    );
    const older = found.filter(({ n }) => n < before).slice(Number(query.get('offset')));
    const rows = older.slice(0, Number(query.get('limit')));
    return { rows, total: found.length, all: this.events.length };
  }

  #event(n: number): Answer {
    const event = this.events.find((each) => each.n === n);
    const updated_at = new Date().toISOString();
    return (
      event && {
        ...event,
        ...{ duplicate: null, remote: '203.0.113.9', content_type: 'application/x-www-form-urlencoded' },
        body: `event=${event.event}&audiofile=${event.audiofile}&order=${event.order}&webhook_version=1.0`,
        actions: [
          {
            kind: 'forward',
            target: 'http://127.0.0.1:3000/hook',
            status: 'done',
            tries: 1,
            outcome: '200 OK',
            updated_at,
            next_try_at: null,
          },
          {
            kind: 'exec',
            target: './done.sh',
            status: 'failed',
            tries: 3,
            outcome: 'exit code 1: no space left on device',
            updated_at,
            next_try_at: null,
          },
        ],
        curl: `curl --data 'event=${event.event}&key=********' http://127.0.0.1:3000/hook`,
      }
    );
  }
}

/** Twenty seconds of silence. */
const silence = (): Buffer => {
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + 160_000, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    head.writeUInt16LE(value, at);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.write('data', 36);
  head.writeUInt32LE(160_000, 40);
  return Buffer.concat([head, Buffer.alloc(160_000, 128)]);
};

/** A part, if one is asked for: a player can't seek otherwise. */
function sendAudio(response: ServerResponse): void {
  const whole = silence();
  const [, from = '0'] = /^bytes=(\d+)-/.exec(response.req.headers.range ?? '') ?? [];
  const part = whole.subarray(Number(from));
  response.writeHead(206, {
    ...{ 'Content-Type': 'audio/wav', 'Content-Length': part.length, 'Accept-Ranges': 'bytes' },
    'Content-Range': `bytes ${from}-${whole.length - 1}/${whole.length}`,
  });
  response.end(part);
}

function sendPage(response: ServerResponse, path: string): void {
  if (path === '/audio.wav') return void sendAudio(response);
  const name = path === '/' ? 'index.html' : path.slice(1);
  const type = types[name];
  if (!type) return void response.writeHead(404).end();
  response.setHeader('Content-Type', type).end(readFileSync(join('dist/ui', name)));
}

const sendJson = (response: ServerResponse, body: Answer, status = 200): void =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
