/** Limits that help pages name as defaults: here, so that a page names them without loading the code that they bound. */

/** The pause between two polls of a file, at first and at most. */
export const POLL_PAUSE_MS = { first: 1_000, max: 30_000 };

/** How long a call may take. During an order the service fetches every URL. */
export const READ_LIMIT_MS = 30_000;
export const CHANGE_LIMIT_MS = 60_000;
export const ORDER_LIMIT_MS = { base: 60_000, perUrl: 30_000 };

/** What is listed without --limit: on a terminal, and before what --follow waits for. */
export const LIST_ROWS = 50;
/** How many purchases `log` shows, where nothing says which. */
export const LOG_ROWS = 100;
export const FOLLOW_ROWS = 10;

/** URLs of a list in one order: the service fetches all of them before it answers. */
export const LISTED_URLS_PER_ORDER = 50;

/** What a command of --exec may take, and how many of them run at once. */
export const EXEC_LIMIT_MS = 600_000;
export const EXEC_JOBS = 4;
/** Of a page of help where no terminal says otherwise, and at most. */
export const PAGE_WIDTH = 80;
