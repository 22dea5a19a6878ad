import {
  type CommandNode,
  described,
  everyNode,
  type Flag,
  type Meaning,
  noMeaning,
  type Positional,
  pathOf,
  type Values,
} from './model.ts';
import { inSingleQuotes as quote } from './quote.ts';

export function bashScript(root: CommandNode): string {
  const nodes = everyNode(root);
  return [
    words,
    caseTable(
      'child',
      'Sets path to the subcommand that a word names; fails where there is none.',
      children(nodes),
    ),
    caseTable('flags', 'The flags of a command.', flags(nodes), `offers+=(${flagNames(root.flags)})`),
    caseTable(
      'value',
      'What to offer as the value of a flag; fails for a flag without a value.',
      flagValues(nodes),
    ),
    caseTable(
      'argument',
      'What to offer as the nth argument of a command, after another one.',
      merged(nodes.flatMap(argumentRows)),
    ),
    engine,
  ].join('\n');
}

function caseTable(name: string, comment: string, rows: readonly string[], after = ''): string {
  const last = after ? `  ${after}\n` : '';
  return `# ${comment}\n_steno_${name}() {\n  case $1:$2:\${3-} in\n${rows.map((row) => `    ${row}\n`).join('')}  esac\n${last}}\n`;
}

type Row = readonly [keys: readonly string[], code: string];

/** Rows that do the same as one: the script is read at the start of a shell. */
function merged(rows: readonly Row[]): string[] {
  const byCode = new Map<string, string[]>();
  for (const [keys, code] of rows) byCode.set(code, [...(byCode.get(code) ?? []), ...keys]);
  return [...byCode].map(([code, keys]) => row(keys, code));
}

const row = (keys: readonly string[], code: string): string =>
  `${keys.join(' | ')}) ${code ? `${code} ` : ''};;`;

function children(nodes: readonly CommandNode[]): string[] {
  const rows = nodes.flatMap((node) =>
    node.children.map((child) =>
      row(
        child.names.map((name) => quote(`${pathOf(node)}:${name}:`)),
        `path=${quote(pathOf(child))}`,
      ),
    ),
  );
  return [...rows, '*) return 1 ;;'];
}

function flags(nodes: readonly CommandNode[]): string[] {
  return nodes
    .filter((node) => node.path.length && node.flags.length)
    .map((node) => row([quote(`${pathOf(node)}::`)], `offers=(${flagNames(node.flags)})`));
}

const flagNames = (list: readonly Flag[]): string => list.flatMap((each) => each.names).join(' ');

function flagValues([root, ...nodes]: readonly CommandNode[]): string[] {
  const shared = root ? flagRows(root) : [];
  // The root's flags come last, because a command's own flag of the same name has precedence.
  return [...merged(nodes.flatMap(flagRows)), ...merged(shared), '*) return 1 ;;'];
}

function flagRows(node: CommandNode): Row[] {
  const keyOf = (name: string): string =>
    node.path.length ? quote(`${pathOf(node)}:${name}:`) : `*${quote(`:${name}:`)}`;
  return node.flags
    .filter((each) => each.takesValue)
    .map(({ names, list, onlyOneOf, values, meaning }) => {
      const only = onlyOneOf.length ? `one=${quote(`,${onlyOneOf.join(',')},`)}` : '';
      const code = [list ? 'list=1' : '', only, offer(values, meaning)];
      return [names.map(keyOf), code.filter(Boolean).join(' ')];
    });
}

function argumentRows(node: CommandNode): Row[] {
  const path = `${pathOf(node)}:`;
  const names = node.children.flatMap((child) => child.names);
  const summaryOf: Meaning = (name) =>
    node.children.find((child) => child.names.includes(name))?.summary ?? '';
  const values = node.args.flatMap((argument, at) => valueRows(path, argument, at));
  if (!names.length) return values;
  // A command may take one of its subcommands or a word.
  const [first] = node.args;
  const words = first ? ` ${offer(first.values, first.meaning).replace('=', '+=')}` : '';
  return [[[`${quote(`${path}0:`)}*`], offer(names, summaryOf) + words], ...values];
}

function valueRows(path: string, { values, many, meaning, valuesAfter }: Positional, at: number): Row[] {
  const after = Object.entries(valuesAfter).map(
    ([word, follow]): Row => [[quote(`${path}${at}:${word}`)], offer(follow)],
  );
  const place = many ? `${quote(path)}*` : `${quote(`${path}${at}:`)}*`;
  return values.length ? [...after, [[place], offer(values, meaning)]] : after;
}

function offer(values: Values, meaning = noMeaning): string {
  if (typeof values === 'string') return `kind=${values}`;
  return values.length ? `offers=(${values.map((each) => quote(described(each, meaning))).join(' ')})` : '';
}

const words = `# Sets words to the words before the cursor and cur to the one at it, as the command line will be parsed:
# COMP_WORDS splits them at = and : too. Readline replaces only what follows the last such break of cur;
# keep is the part before it.
_steno_words() {
  local line=\${COMP_LINE:0:COMP_POINT} char before= started= i
  for ((i = 0; i < \${#line}; i++)); do
    char=\${line:i:1}
    if [[ $quote ]]; then
      case $char in
        "$quote") quote= keep=$before ;;
        \\\\) [[ $quote == "'" ]] || { i=$((i + 1)) char=\${line:i:1}; }; cur+=$char ;;
        *) cur+=$char ;;
      esac
      continue
    fi
    case $char in
      [[:blank:]])
        [[ $started ]] && words+=("$cur")
        cur= keep= started=
        continue
        ;;
      \\\\) i=$((i + 1)) cur+=\${line:i:1} ;;
      \\' | \\") quote=$char before=$keep keep=$cur ;;
      *) cur+=$char ;;
    esac
    started=1
    [[ $char == [=:@] && $COMP_WORDBREAKS == *"$char"* ]] && keep=$cur
  done
}
`;

const engine = `# Adds a value that begins with what is typed, quoted as its place requires. What follows a tab tells about it: it is
# shown where bash only lists (COMP_TYPE 63, which bash 3.2 does not know) and never gets into the line.
_steno_add() {
  local about= width=\${COLUMNS:-80}
  [[ $1 == *$'\\t'* && \${COMP_TYPE-} == 63 ]] && about=\${1#*$'\\t'}
  set -- "\${1%%$'\\t'*}" "\${2-}"
  local text=$head$1
  [[ $1 == "$typed"* ]] || return 0
  [[ $list && $used == *",$1,"* ]] && return 0
  [[ $taken && $one == *",$1,"* ]] && return 0
  text=\${text#"$keep"}
  if [[ -z $quote && \${2-} != raw ]]; then
    printf -v text %q "$text"
    text=\${text//\\\\,/,}
  fi
  if [[ $about ]]; then
    text+="  ($about)"
    ((width > 20)) && text=\${text:0:width - 2}
  fi
  COMPREPLY+=("$text")
}

_steno_add_paths() {
  local each mode=
  compopt -o filenames 2>/dev/null && mode=raw
  while IFS= read -r each; do _steno_add "$each" "$mode"; done < <(compgen "$1" -- "$typed")
}

_steno_add_ids() {
  local each found
  found=$(STENO_PROFILE=$profile command steno __complete "$kind" "$typed" 2>/dev/null </dev/null) || return 0
  [[ $found ]] || return 0
  while IFS= read -r each; do _steno_add "$each"; done <<<"$found"
}

# Sets used to the values that the flag has already, and taken where one of those is among the values of one,
# which exclude each other.
_steno_used() {
  local each
  used=,\${head#*=}
  for each in \${given[@]+"\${given[@]}"}; do
    [[ $each == "$flag="* ]] && used+=\${each#*=},
  done
  local IFS=,
  for each in $one; do
    [[ $each && $used == *",$each,"* ]] && taken=1
  done
}

_steno_offer() {
  local each used= taken=
  if [[ $list && $typed == *,* ]]; then
    head+=\${typed%,*},
    typed=\${typed##*,}
  fi
  [[ $list ]] && _steno_used
  for each in \${offers[@]+"\${offers[@]}"}; do _steno_add "$each"; done
  case $kind in
    file) _steno_add_paths -f ;;
    folder) _steno_add_paths -d ;;
    ?*) _steno_add_ids ;;
  esac
}

_steno() {
  local words=() cur= keep= quote= path= count=0 flag= rest= last= profile=\${STENO_PROFILE-}
  local kind= list= one= offers=() given=() head= typed i word sandbox=
  COMPREPLY=()
  _steno_words
  for ((i = 1; i < \${#words[@]}; i++)); do
    word=\${words[i]}
    if [[ $flag ]]; then
      [[ $flag == --profile ]] && profile=$word
      given+=("$flag=$word")
      flag=
    elif [[ $rest || $word != -?* ]]; then
      [[ $count == 0 ]] && _steno_child "$path" "$word" || count=$((count + 1)) last=$word
    elif [[ $word == -- ]]; then
      rest=1
    elif [[ $word == --*=* ]]; then
      [[ $word == --profile=* ]] && profile=\${word#*=}
      given+=("$word")
    elif [[ $word == --sandbox ]]; then
      sandbox=1
    elif _steno_value "$path" "$word"; then
      flag=$word
    fi
  done
  [[ $sandbox ]] && profile=sandbox
  kind= list= one= offers=() typed=$cur
  if [[ $flag ]]; then
    _steno_value "$path" "$flag"
  elif [[ $rest || $cur != -* ]]; then
    _steno_argument "$path" "$count" "$last"
  elif [[ $cur != --*=* ]]; then
    _steno_flags "$path" ''
  elif _steno_value "$path" "\${cur%%=*}"; then
    flag=\${cur%%=*} head=\${cur%%=*}= typed=\${cur#*=}
  fi
  _steno_offer
}

complete -F _steno steno
`;
