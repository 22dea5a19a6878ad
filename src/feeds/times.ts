/** The dates and durations of feeds, in all their spellings; what can't be read for certain is not known. */

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** In minutes east of Greenwich. RFC 5322 has a zone that is not known count as UTC. */
const zones: Readonly<Record<string, number>> = {
  ...{ est: -300, edt: -240, cst: -360, cdt: -300, mst: -420, mdt: -360, pst: -480, pdt: -420 },
  ...{ akst: -540, akdt: -480, hst: -600, ast: -240, adt: -180, nst: -210, ndt: -150, brt: -180 },
  ...{ bst: 60, wet: 0, west: 60, cet: 60, cest: 120, met: 60, mest: 120, eet: 120, eest: 180, msk: 180 },
  ...{ sast: 120, hkt: 480, sgt: 480, awst: 480, jst: 540, kst: 540, acst: 570, acdt: 630 },
  ...{ aest: 600, aedt: 660, nzst: 720, nzdt: 780 },
};

const MAX_TEXT_LENGTH = 100;
const [FIRST_YEAR, LAST_YEAR] = [1970, 2200];

/** `Tue, 03 Nov 2026 09:30:00 -0500`, in parts: day, month, year, time, zone. */
const rfc822 =
  /^(?:[a-z]{2,9}\.?,?\s+)?(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?,?[\s-]+(\d{4}|\d\d)(?:,?\s+(\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(.*)$/i;
/** `2026-11-03T09:30:00.000-05:00`, in the same parts. */
const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[t\s]+(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(.*)$/i;

/** A date as ISO 8601 in UTC; undefined where the text is none. */
export function parseFeedDate(given: string): string | undefined {
  const text = given.trim();
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const [, isoYear, isoMonth, isoDay, isoTime, isoZone] = iso.exec(text) ?? [];
  if (isoYear) return moment(Number(isoYear), Number(isoMonth), Number(isoDay), isoTime, isoZone);
  const [, day, month = '', year = '', time, zone] = rfc822.exec(text) ?? [];
  if (!day) return undefined;
  return moment(
    wholeYear(year),
    1 + months.indexOf(month.slice(0, 3).toLowerCase()),
    Number(day),
    time,
    zone,
  );
}

/** RFC 5322: two digits from 50 on mean the last century. */
function wholeYear(text: string): number {
  const year = Number(text);
  if (text.length > 2) return year;
  return year + (year < 50 ? 2000 : 1900);
}

function moment(year: number, month: number, day: number, time = '00:00:00', zone = ''): string | undefined {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  const offset = zoneMinutes(zone);
  const isTime = hours < 24 && minutes < 60 && seconds < 61 && offset !== undefined;
  if (month < 1 || year < FIRST_YEAR || year > LAST_YEAR || !isTime) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day));
  // The 30th of February would be a day in March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const milliseconds = Math.round(((hours * 60 + minutes - offset) * 60 + seconds) * 1_000);
  return new Date(date.getTime() + milliseconds).toISOString();
}

/** `+0200`, `+02:00`, `GMT+2`, `EST`, `(CEST)`; a text that is no zone at all spoils the date. */
function zoneMinutes(given: string): number | undefined {
  const text = given
    .replace(/\s*\([^()]*\)$/, '')
    .trim()
    .toLowerCase();
  const [, sign, hours, minutes = '0'] = /^(?:gmt|utc)?\s*([+-])(\d{1,2})(?::?(\d\d))?$/.exec(text) ?? [];
  if (hours) {
    const offset = Number(hours) * 60 + Number(minutes);
    if (offset >= 24 * 60) return undefined;
    return sign === '-' ? -offset : offset;
  }
  return /^[a-z]{0,5}$/.test(text) ? (zones[text] ?? 0) : undefined;
}

/** Longer than any episode: the number is in another unit, or wrong. */
const MAX_SECONDS = 7 * 86_400;

/** `itunes:duration` as seconds: `3723`, `62:03`, `1:02:03`, `PT1H2M3S`; 0 says nothing. */
export function parseFeedDuration(given: string): number | undefined {
  const text = given.trim();
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const seconds = fromClock(text) ?? fromUnits(text);
  return seconds !== undefined && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

/** Minutes may be 60 and more where no hours stand before them. */
function fromClock(text: string): number | undefined {
  if (!/^\d+(?::\d{1,2}){0,2}(?:\.\d+)?$/.test(text)) return undefined;
  const parts = text.split(':').map(Number);
  if (parts.slice(1).some((part) => part >= 60)) return undefined;
  return parts.reduce((sum, part) => sum * 60 + part, 0);
}

function fromUnits(text: string): number | undefined {
  const units =
    /^(?:pt)?\s*(?:(\d+)\s*h(?:ours?|rs?)?)?[\s,]*(?:(\d+)\s*m(?:in(?:ute)?s?)?)?[\s,]*(?:(\d+(?:\.\d+)?)\s*s(?:ec(?:ond)?s?)?)?\.?$/i;
  const [, hours = '0', minutes = '0', seconds = '0'] = units.exec(text) ?? [];
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) || undefined;
}
