/** The headings of a help page in bold, for a terminal. A heading is the first line of its block and ends in a colon. */
export const boldTitles = (text: string): string =>
  text.replace(/(?<=^|\n\n)\S.*:(?=\n)|^Usage:/gm, '\x1b[1m$&\x1b[22m');
