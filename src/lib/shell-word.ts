/** A text as one word of a POSIX shell, for commands that a person can copy. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quotedWord(text));

/** The same in quotes, also where they are not needed: a person may put another text there. */
export const quotedWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
