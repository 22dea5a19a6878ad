/**
 * Reads XML that nobody vouches for. Elements must be closed as they were opened, or an episode might get the audio of
 * another; a bare `&` is common and harmless, and stays as it is. Entities that a document declares are never expanded:
 * such a document is refused.
 */
import type { Parser, Tag } from 'sax';
import { StenoError, usage } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';
import { monotonicMs, sleep } from '../lib/time.ts';

export interface XmlHandler {
  /** The error for a document that is a web page. */
  page(): Error;
  /** Where the start tag begins and ends: places in the text. */
  open(tag: Tag, line: number, from: number, to: number): void;
  text(text: string): void;
  /** Where the end tag begins. */
  close(from: number): void;
}

/** Text in a page of Atom nests deepest. */
const MAX_DEPTH = 256;
const MAX_ATTRIBUTES = 1_000;
/** An attribute or a comment. Text of any length comes in parts. */
const MAX_TOKEN_LENGTH = 1_048_576;
/** `[CDATA[` and `DOCTYPE` are the only declarations, and sax takes quadratic time for longer ones. */
const MAX_DECLARATION_LENGTH = 16;
const MAX_ENTITY_LENGTH = 64;
/** Each costs an error of sax. */
const MAX_BAD_ENTITIES = 10_000;
const PART_LENGTH = 8_192;
/** 64 MB of text take 4 s; with as many elements as fit into it, 15 s. */
const MAX_MILLISECONDS = 30_000;
/** How long the user's interruption waits at most. */
const PAUSE_EVERY_MS = 100;

/** `where` names the document in errors. */
export async function readXml(
  text: string,
  where: string,
  handler: XmlHandler,
  signal: AbortSignal,
): Promise<void> {
  const { default: sax } = await import('sax');
  sax.MAX_BUFFER_LENGTH = MAX_TOKEN_LENGTH;
  const parser = sax.parser(true);
  const fail = (why: string): never => {
    throw usage(`${where} can't be read: line ${parser.line + 1}: ${why}`);
  };
  const entityStates = ['TEXT_ENTITY', 'ATTRIB_VALUE_ENTITY_Q'].map((name) => sax.STATE[name]);
  connect(parser, handler, fail);
  parser.onerror = countingErrors(parser, entityStates, fail);
  try {
    await parse(parser, text, fail, signal);
    parser.onerror = ({ message }) => fail(notValid(message));
    parser.close();
  } catch (error) {
    if (error instanceof StenoError) throw error;
    // sax does not expect some names, such as an attribute `hasOwnProperty`.
    const message = `${where} can't be read: line ${parser.line + 1}: it is not valid XML`;
    throw new StenoError('usage', message, { cause: error });
  }
}

type Fail = (why: string) => never;

async function parse(parser: Parser, text: string, fail: Fail, signal: AbortSignal): Promise<void> {
  const endsAt = monotonicMs() + MAX_MILLISECONDS;
  let pauseAt = monotonicMs() + PAUSE_EVERY_MS;
  for (let at = 0; at < text.length; at += PART_LENGTH) {
    parser.write(text.slice(at, at + PART_LENGTH));
    if (parser.sgmlDecl.length > MAX_DECLARATION_LENGTH) fail('a declaration that no feed needs');
    if (parser.entity.length > MAX_ENTITY_LENGTH) fail('an entity that does not end');
    if (monotonicMs() > endsAt) fail(`reading up to here took more than ${MAX_MILLISECONDS / 1000} s`);
    if (monotonicMs() < pauseAt) continue;
    await sleep(0, signal);
    pauseAt = monotonicMs() + PAUSE_EVERY_MS;
  }
}

function connect(parser: Parser, handler: XmlHandler, fail: Fail): void {
  let [depth, attributes, roots] = [0, 0, 0];
  parser.onopentagstart = () => {
    attributes = 0;
  };
  parser.onattribute = () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) fail(`more than ${MAX_ATTRIBUTES} attributes`);
  };
  parser.onopentag = (tag) => {
    depth += 1;
    if (depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} nested elements`);
    if (depth === 1) roots += 1;
    if (roots > 1) fail('a second document starts');
    if (depth === 1 && /^html$/i.test(tag.name)) throw handler.page();
    handler.open(tag, parser.line + 1, parser.startTagPosition - 1, parser.position);
  };
  parser.onclosetag = () => {
    depth -= 1;
    handler.close(parser.startTagPosition - 1);
  };
  parser.ontext = (text) => handler.text(text);
  parser.oncdata = (text) => handler.text(text);
  parser.onsgmldeclaration = () => fail('a declaration that no feed needs');
  parser.ondoctype = (text) => {
    if (/^\s*html\b/i.test(text)) throw handler.page();
    if (/<!ENTITY/i.test(text)) fail('it declares entities of its own, which no feed needs');
  };
}

/** Lets a bare `&` and an unknown entity pass, as they are; any other error ends the reading. */
function countingErrors(
  parser: Parser,
  entityStates: ReadonlyArray<number | undefined>,
  fail: Fail,
): (error: Error) => void {
  let badEntities = 0;
  return ({ message }) => {
    badEntities += 1;
    if (entityStates.includes(parser.state) && badEntities <= MAX_BAD_ENTITIES) return parser.resume();
    return fail(notValid(message));
  };
}

/** sax adds the place in further lines. */
const notValid = (message: string): string =>
  `not valid XML (${oneLine((message.split('\n', 1)[0] ?? '').toLowerCase().replace(/\.$/, ''), 80)})`;
