/** One line that every format can hold: no control characters, line breaks, lone surrogates or noncharacters. */
export function oneLine(text: string): string {
  return text
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\s]+/gu, ' ')
    .trim();
}

export function clip(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Milliseconds as hh:mm:ss. */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Escapes for HTML and XML, in text and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
