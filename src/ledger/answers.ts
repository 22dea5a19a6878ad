/** What the service said of files, on its way into the ledger. A shared ledger gets many answers at a time. */
import { StenoError } from '../lib/errors.ts';
import { Batcher, type Gathering } from './batcher.ts';
import type { Files, ServiceAnswer } from './files.ts';

/** A write to a file of this machine is cheap: only what comes at the same moment shares one. */
const LOCAL: Gathering = { count: 50, waitMs: 0 };
/** Two round trips write them all. An answer that is lost with a crash is asked for again. */
const SHARED: Gathering = { count: 400, waitMs: 5_000 };
const MAX_ANSWERS_PER_WRITE = 500;

/** Each answer resolves when it is written, with the state before if it was another. */
export const answerWriter = (files: Files, isShared: boolean): Batcher<ServiceAnswer, string | undefined> =>
  new Batcher({
    // Once more after a lost connection: to write an answer twice does no harm.
    write: (answers) =>
      files.updateMany(answers).catch((error: unknown) => {
        if (!(error instanceof StenoError) || error.kind !== 'network') throw error;
        return files.updateMany(answers);
      }),
    maxItems: MAX_ANSWERS_PER_WRITE,
    gathering: isShared ? SHARED : LOCAL,
  });
