import { isUrl } from '../../lib/is-url.ts';
import { escapeMarkup } from './text.ts';
import type { Transcript } from './transcript.ts';

export function html({ title, link, details, notice, turns }: Transcript): string {
  const about = [...(link ? [`Source: ${anchor(link)}`] : []), ...details.map(escapeMarkup)];
  return `${[
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<title>${escapeMarkup(title)}</title>`,
    '</head>',
    '<body>',
    `<h1>${escapeMarkup(title)}</h1>`,
    `<p>${about.join('<br>\n')}</p>`,
    ...(notice ? [`<p><em>${escapeMarkup(notice)}</em></p>`] : []),
    ...turns.map(({ speaker, text }) => `<p><b>${escapeMarkup(speaker)}:</b> ${escapeMarkup(text)}</p>`),
    '</body>',
    '</html>',
  ].join('\n')}\n`;
}

/** Only a web address becomes a link: an order may name any scheme. */
function anchor(link: string): string {
  const address = isUrl(link) ? new URL(link) : undefined;
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') return escapeMarkup(link);
  return `<a href="${escapeMarkup(address.href)}">${escapeMarkup(link)}</a>`;
}
