/** Who speaks: `Name: text`, where what stands before the colon looks like a name. */

const MAX_NAME_LENGTH = 60;
const MAX_NAME_WORDS = 6;

/** Begins with a capital, a letter of a script without capitals, or a digit: `O'Neil`, `SPEAKER_00`, `d’Arc`, `iPhone`. */
const nameWord =
  /^[("#&]?(?:\p{Ll}{1,2}['’]?(?=\p{Lu}\p{L}))?[\p{Lu}\p{Lt}\p{Lo}\p{N}][\p{L}\p{M}\p{N}.'’_"#&/-]*[,)"]?$/u;
const smallWord = /^(?:&|al|and|bin|da|de|del|den|der|di|dos|du|el|ibn|la|le|of|ten|ter|the|van|von|y|zu)$/;

// What says that somebody speaks, not who: `Man 2`, `Unidentified Male Speaker`, `Third Student`, `SPK1`.
const somebody =
  'speaker|man|woman|male|female|boy|girl|child|kid|voice|person|participant|caller|guest|audience member|unknown|unidentified|unnamed|anonymous';
/** A name only with a number, or with a word that says no more. */
const role =
  'interviewee|interviewer|respondent|student|pupil|teacher|professor|panell?ist|moderator|host|reporter|journalist|questioner|audience|attendee|member|delegate|juror|witness|officer|doctor|nurse|patient|client|customer|employee|agent|operator|subject|user|parent|lady|gentleman|guy';
const kind = 'unknown|unidentified|unnamed|anonymous|male|female';
const ordinal = 'first|second|third|fourth|fifth|sixth|1st|2nd|3rd|[4-9]th';
const counted = '\\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|i{1,3}|iv|vi{0,3}';
const maybeUnnamed = new RegExp(`${somebody}|${role}|^\\W*[a-z]{1,4}\\W?\\d`, 'i');
const unnamed = new RegExp(
  `^(?:(?:(?:${kind}|${ordinal}|other|another|new|young|old|older|elderly|adult) )*(?:${somebody})(?: (?:${somebody}))?` +
    `(?: (?:no |number )?(?:${counted}|[a-z]))?(?: (?:${kind}))?` +
    `|(?:${role}) (?:no |number )?(?:${counted}|[a-z])|(?:spkr?|sp|[sprmf]) \\d{1,3}` +
    `|(?!first (?:lady|gentleman|officer))(?:(?:${kind}|${ordinal}) )+(?:${role})(?: (?:${counted}|[a-z]))?)$`,
);

/** What the head of a transcript has before a colon. */
const label =
  /^(?:audio|date|duration|episode|file|filename|job|length|link|notes?|order|recorded|recording|source|time|title|topic|transcript|transcriber|transcribed by|url|https?)$/i;

export interface Said {
  readonly speaker?: string | undefined;
  readonly text: string;
}

/** Whether a line belongs to the head of a transcript, such as `Length: 00:12:00`. */
export const isLabelled = (line: string): boolean => label.test(line.slice(0, Math.max(colonIn(line), 0)));

/** Splits a line that begins with a name. A dash or `>>` before the name goes with it. */
export function splitSpeaker(line: string): Said {
  const said = line.trim().replace(/^(?:-|>>>?)\s?/, '');
  const colon = colonIn(said);
  const speaker = colon > 0 ? nameIn(said.slice(0, colon)) : undefined;
  return speaker === undefined ? { text: line.trim() } : { speaker, text: said.slice(colon + 1).trim() };
}

/** The place of the colon that may end a name: a blank follows it, or nothing, or it is that of Chinese. */
function colonIn(line: string): number {
  const at = line.slice(0, MAX_NAME_LENGTH + 1).search(/[:：]/);
  return at >= 0 && (line[at] === '：' || /^\s?$/.test(line.charAt(at + 1))) ? at : -1;
}

/** Not a mark of a gap or a sound. */
const inBrackets = /^\[(?!inaud|unin|indis|unclear|cross|over|blank|music|laugh|appl)([^[\]]*)\]$/i;

/** The name that a text is; without its brackets, as in `[Ada]: text`. */
export function nameIn(text: string): string | undefined {
  const name = text.trim().replace(inBrackets, '$1');
  // What is in parentheses after a name may be anything: `(he/him)`, `(on phone)`.
  return isName(name.endsWith(')') ? name.replace(/\s\([^()]*\)$/, '') : name) ? name : undefined;
}

function isName(text: string): boolean {
  const words = text.split(/\s+/);
  if (label.test(text) || words.length > MAX_NAME_WORDS || !/\p{L}/u.test(text)) return false;
  if (isUnnamed(text)) return true;
  const [first = '', ...rest] = words;
  return nameWord.test(first) && rest.every((word) => nameWord.test(word) || smallWord.test(word));
}

/** Whether it is a stopgap such as `Man 2` or `Speaker 1`. */
export const isUnnamed = (name: string): boolean => maybeUnnamed.test(name) && unnamed.test(plainName(name));

/** `SPEAKER_01`, `[Man #2]` and `S2` as `speaker 01`, `man 2` and `s 2`. */
const plainName = (name: string): string =>
  name
    .slice(0, MAX_NAME_LENGTH)
    .toLowerCase()
    .replace(/['’]s\b/g, '')
    .replace(/(?<=\p{L})(?=\d)/gu, ' ')
    .replace(/[\s()[\]{}<>_#.-]+/g, ' ')
    .trim();
