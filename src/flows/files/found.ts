/** The files that match what is asked for, in order, kept for as long as nobody writes: who scrolls asks again and again. */
import type { Changes } from '../../ledger/changes.ts';
import { type FileGroup, type FileQuery, FileWindows } from '../../ledger/file-windows.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';

export interface FoundGroup extends FileGroup {
  /** The place of its first file. */
  readonly offset: number;
}

export interface Found {
  readonly places: readonly number[];
  readonly groups: readonly FoundGroup[] | undefined;
  /** How many files there are. */
  readonly all: number;
}

const MAX_KEPT = 8;

export class FoundFiles {
  readonly #ledger: Ledger;
  readonly #changes: Changes;
  readonly #kept = new Map<string, Promise<Found>>();

  constructor(ledger: Ledger, changes: Changes) {
    this.#ledger = ledger;
    this.#changes = changes;
  }

  async get(query: FileQuery): Promise<Found> {
    const key = `${await this.#changes.version()} ${JSON.stringify(query)}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const finding = this.#find(query);
    this.#kept.set(key, finding);
    finding.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return finding;
  }

  async #find(query: FileQuery): Promise<Found> {
    const windows = new FileWindows(this.#ledger);
    const { group } = query;
    return {
      places: await windows.places(query),
      groups: group && placed(await windows.groups({ ...query, group }), group === 'tag'),
      all: await new Files(this.#ledger).count({}),
    };
  }
}

function placed(groups: readonly FileGroup[], areTags: boolean): FoundGroup[] {
  let offset = 0;
  return groups.map(({ name, count }) => {
    const text = String(name);
    const group = { name: areTags ? tagsText(text) : text, count: Number(count), offset };
    offset += group.count;
    return group;
  });
}

/** `["a","b"]` as people read it. */
function tagsText(json: string): string {
  try {
    const tags: unknown = JSON.parse(json || '[]');
    return Array.isArray(tags) ? tags.join(', ') : json;
  } catch {
    return json;
  }
}
