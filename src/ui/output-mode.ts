export interface OutputMode {
  readonly json: boolean;
  readonly csv: boolean;
  readonly quiet: boolean;
  readonly noColor: boolean;
  readonly debug: boolean;
  /** False: no line that moves. */
  readonly progress: boolean;
  /** Long lists may be read in a pager. */
  readonly pager: boolean;
}

/** What takes text in place of stdout, so that it can be read in a pager. */
export interface Paged {
  readonly isOpen: boolean;
  readonly isGone: boolean;
  write(text: string): void;
  drain(): Promise<void>;
}
