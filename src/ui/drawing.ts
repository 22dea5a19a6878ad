/** What draws results for people. One file, so that it is loaded at once, on first use. */
export { drawPairs, drawRecords } from './records.ts';
export { drawTable } from './table.ts';
