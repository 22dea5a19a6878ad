/** The expressions of GitHub Actions, as far as our workflows use them; anything else is an error. */

export type Value = string | number | boolean | null;
export interface Contexts {
  readonly [name: string]: Value | Contexts | undefined;
}

export interface Status {
  readonly failed: boolean;
  readonly cancelled: boolean;
}

const TOKEN = /\s*(?:('(?:[^']|'')*')|(\d+)|(&&|\|\||==|!=|[!(),])|([A-Za-z_][\w.-]*))/y;

/** The text with each `${{ … }}` replaced by its value. */
export const fill = (text: string, contexts: Contexts): string =>
  text.replace(/\$\{\{(.*?)\}\}/g, (_, source: string) => asText(evaluate(source, contexts)));

/** Whether a step runs: without a function of its own, only if nothing failed before it. */
export function holds(condition: string | undefined, contexts: Contexts, status: Status): boolean {
  const source = (condition ?? 'success()').replace(/^\$\{\{(.*)\}\}$/, '$1');
  const value = isTrue(evaluate(source, contexts, status));
  const asksStatus = /\b(always|success|failure|cancelled)\(\)/.test(source);
  return value && (asksStatus || (!status.failed && !status.cancelled));
}

function evaluate(source: string, contexts: Contexts, status?: Status): Value {
  const parser = new Parser(source, contexts, status);
  return parser.whole();
}

const isTrue = (value: Value): boolean => value !== '' && value !== 0 && value !== false && value !== null;
const asText = (value: Value): string => (value === null ? '' : String(value));

class Parser {
  readonly #source: string;
  readonly #contexts: Contexts;
  readonly #status: Status | undefined;
  readonly #tokens: string[] = [];

  constructor(source: string, contexts: Contexts, status: Status | undefined) {
    this.#source = source;
    this.#contexts = contexts;
    this.#status = status;
    TOKEN.lastIndex = 0;
    const text = source.trimEnd();
    while (TOKEN.lastIndex < text.length) {
      const [found] = TOKEN.exec(text) ?? [];
      if (found === undefined) throw new Error(`the expression '${source}' is not understood`);
      this.#tokens.push(found.trim());
    }
  }

  whole(): Value {
    const value = this.#or();
    if (this.#tokens.length) throw new Error(`'${this.#tokens[0]}' is left of '${this.#source}'`);
    return value;
  }

  #takes(token: string): boolean {
    if (this.#tokens[0] !== token) return false;
    this.#tokens.shift();
    return true;
  }

  #or(): Value {
    let value = this.#and();
    while (this.#takes('||')) {
      const other = this.#and();
      value = isTrue(value) ? value : other;
    }
    return value;
  }

  #and(): Value {
    let value = this.#equality();
    while (this.#takes('&&')) {
      const other = this.#equality();
      value = isTrue(value) ? other : value;
    }
    return value;
  }

  #equality(): Value {
    const value = this.#unary();
    if (this.#takes('==')) return asText(value) === asText(this.#unary());
    if (this.#takes('!=')) return asText(value) !== asText(this.#unary());
    return value;
  }

  #unary(): Value {
    if (this.#takes('!')) return !isTrue(this.#unary());
    if (this.#takes('(')) {
      const value = this.#or();
      this.#expect(')');
      return value;
    }
    const token = this.#tokens.shift() ?? '';
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (/^\d/.test(token)) return Number(token);
    if (this.#takes('(')) {
      this.#expect(')');
      return this.#statusOf(token);
    }
    return this.#lookUp(token);
  }

  #expect(token: string): void {
    if (!this.#takes(token)) throw new Error(`'${token}' is missing in '${this.#source}'`);
  }

  #statusOf(name: string): boolean {
    const { failed, cancelled } = this.#status ?? {};
    if (failed === undefined || cancelled === undefined) throw new Error(`${name}() is only for conditions`);
    const known: Readonly<Record<string, boolean>> = {
      always: true,
      success: !failed && !cancelled,
      failure: failed && !cancelled,
      cancelled,
    };
    const value = known[name];
    if (value === undefined) throw new Error(`the function ${name}() is not known`);
    return value;
  }

  /** What a context lacks is empty; a context that is not there is a mistake. */
  #lookUp(path: string): Value {
    const [first = '', ...rest] = path.split('.');
    if (!(first in this.#contexts)) throw new Error(`there is no context '${first}' in '${this.#source}'`);
    let found: Value | Contexts | undefined = this.#contexts[first];
    for (const name of rest) found = typeof found === 'object' && found !== null ? found[name] : undefined;
    if (typeof found === 'object' && found !== null) throw new Error(`${path} is not a value`);
    return found ?? null;
  }
}
