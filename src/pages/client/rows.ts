/** The rows of a long list. The server has them all; this page holds those that were in view. */
import { type Signal, signal } from '@preact/signals';
import { get, onChange, oneAtATime, type Topic } from './api.ts';
import { keep, pathWith, route } from './route.ts';

const WINDOW = 100;

export type Query = Readonly<Record<string, string>>;

interface Answer<Row> {
  readonly total: number;
  readonly all: number;
  readonly rows: readonly Row[];
}

interface Kind<Row> {
  readonly path: string;
  readonly topic: Topic;
  /** The query of a list that nothing was chosen for. */
  readonly usual: Query;
  readonly idOf: (row: Row) => string;
  /** What is shown as changed when it changes. */
  readonly stateOf: (row: Row) => string | null;
  /** New rows come at the top: then what is in view stays in view. */
  readonly growsAtTop: (query: Query) => boolean;
}

export class Rows<Row> {
  readonly query: Signal<Query>;
  /** `added`: rows that have come at the top. A new value whenever rows have come. */
  readonly found = signal<{ total: number; all: number; added: number } | undefined>(undefined);
  readonly failure = signal<Error | undefined>(undefined);
  readonly cursor = signal(0);
  /** By their ids: the rows that were chosen. */
  readonly chosen = signal<ReadonlySet<string>>(new Set());
  /** How far the list was scrolled when another page was shown. */
  top = 0;
  readonly kind: Kind<Row>;
  #rows = new Map<number, Row>();
  readonly #states = new Map<string, string | null>();
  #changed = new Set<string>();
  #inView: readonly [number, number] = [0, 0];
  #abort = new AbortController();
  /** Another question was chosen than the one that the rows answer. They stay until its answer comes. */
  #isStale = true;
  #typing: ReturnType<typeof setTimeout> | undefined;
  #isBegun = false;
  #isOpen = false;

  constructor(kind: Kind<Row>) {
    this.kind = kind;
    this.query = signal(kind.usual);
  }

  at(index: number): Row | undefined {
    return this.#rows.get(index);
  }

  get loaded(): readonly Row[] {
    const [from, to] = this.#inView;
    return [...this.#rows].flatMap(([at, row]) => (at >= from && at <= to ? row : []));
  }

  pick(id: string, isPicked: boolean): void {
    const chosen = new Set(this.chosen.peek());
    if (isPicked) chosen.add(id);
    else chosen.delete(id);
    this.chosen.value = chosen;
  }

  hasChanged(row: Row): boolean {
    return this.#changed.has(this.kind.idOf(row));
  }

  /** Asks for the first rows, before there is a page to show them. */
  begin(): Promise<void> {
    this.#isBegun = true;
    this.query.value = this.#addressed();
    return this.#ask().catch(() => {});
  }

  /** While its page is shown; gives what ends it. */
  open(): () => void {
    this.#isOpen = true;
    const stop = onChange([this.kind.topic], this.refresh);
    return () => {
      this.#isOpen = false;
      stop();
    };
  }

  /** Shows what the address asks for; after a bare link from another page, the list as it was left. */
  follow(): void {
    const wanted = this.#addressed();
    // An entry of the history that was shown before has a state.
    const isBare = !this.#isOpen && route.peek().params.size === 0 && history.state === null;
    if (!isBare && !this.#isChosen(wanted)) this.choose(wanted);
    else if (!this.#isBegun) this.refresh();
    this.#isBegun = false;
    this.#keepQuery();
  }

  #addressed(): Query {
    const { params } = route.peek();
    const given = Object.entries(this.kind.usual).map(([name, usual]) => [name, params.get(name) ?? usual]);
    return Object.fromEntries(given) as Query;
  }

  #isChosen(query: Query): boolean {
    return Object.entries(query).every(([name, value]) => this.query.peek()[name] === value);
  }

  choose(change: Query, delay = 0): void {
    if (!this.#isChosen(change)) this.query.value = { ...this.query.value, ...change };
    this.#isStale = true;
    this.#keepQuery();
    clearTimeout(this.#typing);
    const ask = (): void => void this.#ask().catch(() => {});
    if (delay) this.#typing = setTimeout(ask, delay);
    else ask();
  }

  /** These rows are in view. */
  see(from: number, to: number): void {
    this.#inView = [Math.max(0, from), Math.max(0, to)];
    this.#fill();
  }

  /** Reads again what is in view; what is not is read when it comes into view. */
  readonly refresh = oneAtATime(async () => {
    if (this.#isStale) return this.#ask();
    this.#changed = new Set();
    const windows = this.#windowsInView();
    for (const at of this.#rows.keys()) if (!windows.includes(Math.floor(at / WINDOW))) this.#rows.delete(at);
    for (const at of windows) await this.#load(at, true);
  });

  /** One window after the other: what has left the view meanwhile is not asked for. */
  readonly #fill = oneAtATime(async () => {
    for (;;) {
      const next = this.#isStale ? undefined : this.#windowsInView().find((at) => this.#isMissing(at));
      if (next === undefined) return;
      await this.#load(next);
    }
  });

  #windowsInView(): number[] {
    const [from = 0, to = 0] = this.#inView.map((at) => Math.floor(at / WINDOW));
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  }

  /** Rows that came at the top have moved the others: a part of a window may be there. */
  #isMissing(at: number): boolean {
    const end = Math.min((at + 1) * WINDOW, this.found.value?.total ?? 0);
    return at * WINDOW < end && !(this.#rows.has(at * WINDOW) && this.#rows.has(end - 1));
  }

  #keepQuery(): void {
    const chosen = Object.entries(this.query.value).filter(
      ([name, value]) => value !== this.kind.usual[name],
    );
    keep(Object.fromEntries(chosen));
  }

  async #ask(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    await this.#load(0);
    this.cursor.value = 0;
    for (const list of document.querySelectorAll('.list')) list.scrollTop = 0;
  }

  #get(offset: number, limit: number): Promise<Answer<Row>> {
    const params = { ...this.query.value, offset, limit };
    return get<Answer<Row>>(pathWith(this.kind.path, params), this.#abort.signal);
  }

  async #load(at: number, isNews = false): Promise<void> {
    const { signal } = this.#abort;
    try {
      const answer = await this.#get(at * WINDOW, WINDOW);
      if (signal.aborted) return;
      this.#take(answer, at * WINDOW, isNews);
      this.failure.value = undefined;
    } catch (error) {
      if (!signal.aborted) this.failure.value = error as Error;
      throw error;
    }
  }

  #take({ total, all, rows }: Answer<Row>, offset: number, isNews: boolean): void {
    const before = this.found.value?.total ?? 0;
    const grows = isNews && this.kind.growsAtTop(this.query.value);
    const added = grows ? Math.max(0, total - before) : 0;
    if (this.#isStale) this.#rows = new Map();
    else if (added) this.#rows = new Map(Array.from(this.#rows, ([at, row]) => [at + added, row]));
    this.#isStale = false;
    for (const [index, row] of rows.entries()) {
      this.#rows.set(offset + index, row);
      this.#note(row, offset + index < added);
    }
    this.found.value = { total, all, added };
  }

  #note(row: Row, isNew: boolean): void {
    const [id, state] = [this.kind.idOf(row), this.kind.stateOf(row)];
    if (isNew || (this.#states.has(id) && this.#states.get(id) !== state)) this.#changed.add(id);
    this.#states.set(id, state);
  }
}
