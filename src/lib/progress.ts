/** How far long work is, as plain data. Flows report it; what a person is shown of it is made in ui/. */
export interface ProgressNews {
  /** The part of the work that begins, such as 'Downloading': all figures start again. */
  readonly what?: string;
  readonly done?: number;
  readonly of?: number;
  /** What is counted, as one of them is called: 'order'. */
  readonly unit?: string;
  readonly failed?: number;
  readonly bytes?: number;
  readonly ofBytes?: number;
  /** What the things that are counted consist of, such as the rows of orders. */
  readonly parts?: { readonly done: number; readonly of: number; readonly unit: string };
  /** How many files are in each state. */
  readonly states?: ReadonlyMap<string, number>;
  /** What is waited for just now; gone with the next news. */
  readonly note?: string;
}

/** Takes what is new; figures that it leaves out stay as they are. */
export type Report = (news: ProgressNews) => void;

/** Where nobody is shown how far it is. Work that is given this one need not count. */
export const noReport: Report = () => {};

/** Hands news on, and keeps the latest figures for a summary. */
export class LatestProgress {
  #news: ProgressNews = {};

  get done(): number {
    return (this.#news.done ?? 0) - (this.#news.failed ?? 0);
  }

  get of(): number {
    return this.#news.of ?? 0;
  }

  through(report: Report): Report {
    return (news) => {
      this.#news = { ...this.#news, ...news };
      report(news);
    };
  }
}
