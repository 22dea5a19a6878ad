/** What the process that tries mutants is asked, and answers. */

/** What `.mutants/work.json` says. */
export interface TrialsWork {
  readonly tests: readonly string[];
  readonly mutants: readonly number[];
  /** What a name must match. */
  readonly names: string;
  /** How many milliseconds of tests a mutant gets, as they take without one. */
  readonly budgetMs: number;
  /** Where the answers go, one a line. */
  readonly answers: string;
  /** Which mutant is being tried. */
  readonly current: string;
}

export interface TrialAnswer {
  readonly id: number;
  readonly fate: 'killed' | 'survived' | 'unreached';
  readonly by?: string;
}
