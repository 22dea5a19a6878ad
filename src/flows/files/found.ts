/** The files that match what is asked for, in order, kept for as long as nobody writes: who scrolls asks again and again. */
import type { Changes } from '../../ledger/changes.ts';
import { type FileGroup, type FileQuery, FileWindows } from '../../ledger/file-windows.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Kept } from '../../lib/kept.ts';

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

export class FoundFiles {
  readonly #ledger: Ledger;
  readonly #changes: Changes;
  readonly #kept = new Kept<Found>({ max: 8 });

  constructor(ledger: Ledger, changes: Changes) {
    this.#ledger = ledger;
    this.#changes = changes;
  }

  async get(query: FileQuery): Promise<Found> {
    const key = `${await this.#changes.version()} ${JSON.stringify(query)}`;
    return this.#kept.get(key, () => this.#find(query));
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
