/** For bash and zsh: plain where it can be, else between single quotes. */
export function inSingleQuotes(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
