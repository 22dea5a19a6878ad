/** Makes orders of rows as they are read: of a million of them, no more is kept than is needed to order them. */
import type { OrderRequest } from '../../api/orders.ts';
import { checkOrderSkus } from '../../catalog/check.ts';
import { type Audio, makeAudio } from '../../ledger/purchase.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { isUrlName } from '../../lib/names.ts';
import { TextIndex } from '../../lib/text-index.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import { samenessOf } from './duplicates.ts';
import { placeText, type Row } from './manifest-row.ts';
import { describeAudio, type PlannedAudio, type PlannedOrder } from './planned-order.ts';

/** What holds for every row that does not say otherwise. */
export interface Defaults {
  readonly skus: readonly string[];
  readonly notes: string | undefined;
  readonly names: readonly string[];
  readonly tags?: readonly string[] | undefined;
  readonly test: boolean;
  readonly anySku: boolean;
  readonly extra: OrderRequest['extra'];
}

interface RowOptions {
  readonly perOrder: number;
  /** The name of the manifest, if there is one. */
  readonly manifest: string;
  readonly again: boolean;
  readonly skipOrdered: boolean;
  /** Each audio is told its place in the list. */
  readonly numbersRows: boolean;
}

type OpenOrder = PlannedOrder & { readonly audios: PlannedAudio[] };

export class PlannedRows {
  readonly orders: PlannedOrder[] = [];
  /** Episodes that have the audio of another one. */
  readonly leftOut: LeftOut[] = [];
  /** Rows that are there twice. */
  readonly repeated: LeftOut[] = [];
  readonly #defaults: Defaults;
  #rows = 0;
  readonly #options: RowOptions;
  /** The order that takes more rows with the same SKUs, notes and names. */
  readonly #latest = new Map<string, OpenOrder>();
  readonly #audios: PlannedAudio[] = [];
  /** Where each of them stands: a line of the manifest, or a text. */
  readonly #places: Array<number | string> = [];
  /** Their names. */
  readonly #seen = new TextIndex((at) => this.#audios[at]?.names ?? []);

  constructor(defaults: Defaults, options: RowOptions) {
    this.#defaults = defaults;
    this.#options = options;
  }

  /** `line`: of the manifest, where it is from there. */
  add(row: Row, line?: number): void {
    const made = audioOf(row, this.#defaults.tags ?? []);
    const audio = this.#options.numbersRows ? { ...copied(made), row: this.#rows++ } : made;
    if (this.#isRepeated(row, audio, line) && !this.#options.again) return;
    this.#orderFor(row).audios.push(audio);
  }

  /** Where it stands: a line of the manifest, a path or an episode; empty for a URL of the command line. */
  placeOf({ names }: Audio): string {
    const at = names.map((name) => this.#seen.find(name)).find((found) => found !== undefined);
    return at === undefined ? '' : this.#placeOf(at);
  }

  /** The same audio twice in one run would be bought twice. */
  #isRepeated(row: Row, audio: PlannedAudio, line: number | undefined): boolean {
    const { names } = audio;
    for (const name of names) {
      const first = this.#seen.find(name);
      if (first === undefined) continue;
      if (this.#options.again) return true;
      if (isUrlName(name) && hasOtherGuid(audio, this.#audios[first])) {
        const reason = `its audio is that of ${this.#placeOf(first)}, under another guid (--again orders it)`;
        this.leftOut.push({ path: row.at, reason, why: 'repeated', audio });
        return true;
      }
      if (!this.#options.skipOrdered) throw this.#repeatError(name, row, audio, first);
      const path = row.at || describeAudio(audio);
      this.repeated.push({ path, reason: this.#placeOf(first), why: 'repeated', audio });
      return true;
    }
    const at = this.#audios.push(audio) - 1;
    this.#places.push(line ?? row.at);
    for (const name of names) this.#seen.add(name, at);
    return false;
  }

  #repeatError(name: string, row: Row, audio: PlannedAudio, first: number): StenoError {
    const at = this.#placeOf(first);
    const where = row.at ? `${row.at}: ` : '';
    const same = at ? `the same as in ${at}` : 'given twice';
    const why = samenessOf(name, audio, this.#audios[first] as PlannedAudio);
    return usage(`${where}${row.url} is ${same}${why}`, 'leave one out, or use --skip-ordered');
  }

  #placeOf(audio: number): string {
    const place = this.#places[audio] ?? '';
    return typeof place === 'number' ? placeText(this.#options.manifest, place) : place;
  }

  /** Rows with the same SKUs, notes and names share an order. */
  #orderFor(row: Row): OpenOrder {
    const { names: defaultNames, notes: defaultNotes, test, extra } = this.#defaults;
    const skus = this.#checkSkus(row);
    const { names = defaultNames, notes = defaultNotes } = row;
    const shared = JSON.stringify([skus, names, notes]);
    const current = this.#latest.get(shared);
    if (current && current.audios.length < this.#options.perOrder) return current;
    const order = { audios: [], skus, names, notes, test, extra };
    this.#latest.set(shared, order);
    this.orders.push(order);
    return order;
  }

  #checkSkus(row: Row): string[] {
    const { skus, anySku } = this.#defaults;
    try {
      return checkOrderSkus(row.skus ?? skus, anySku);
    } catch (error) {
      if (!(error instanceof StenoError) || !row.at) throw error;
      throw usage(`${row.at}: ${error.message}`, error.hint);
    }
  }
}

const hasOtherGuid = ({ details: one }: PlannedAudio, first: PlannedAudio | undefined): boolean =>
  one?.guid !== undefined && first?.details?.guid !== undefined && one.guid !== first.details.guid;

/** What a list says of the length goes before what is measured; tags of all and of the row add up. */
function audioOf(row: Row, defaultTags: readonly string[]): PlannedAudio {
  const { audio: known, url, key, path, mark, seconds } = row;
  const audio = known ?? makeAudio(url, key);
  const tags = [...new Set([...defaultTags, ...(row.tags ?? [])])];
  if (!path && seconds === undefined && tags.length === 0) return audio;
  const { names, details, key: own = key } = copied(audio);
  const more = { ...(seconds === undefined ? {} : { seconds }), ...(tags.length ? { tags } : {}) };
  return { ...{ url, key: own, names, path, mark }, details: { ...details, ...more } };
}

/** Some audios make their names when they are asked for them. */
const copied = ({ url, key, names, details, path, mark }: PlannedAudio): PlannedAudio => ({
  ...{ url, key, names, details, path, mark },
});
