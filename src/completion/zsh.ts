import {
  type CommandNode,
  everyNode,
  type Flag,
  type Meaning,
  noMeaning,
  type Positional,
  type Values,
} from './model.ts';
import { inSingleQuotes as quote } from './quote.ts';

export function zshScript(root: CommandNode): string {
  const [, ...nodes] = everyNode(root);
  return [head, entry(root), ...nodes.flatMap(afterFunctions), ...nodes.map(commandFunction), tail].join(
    '\n',
  );
}

const functionName = (node: CommandNode): string => ['_steno', ...node.path].join('-');

function entry(root: CommandNode): string {
  return `_steno() {
  local profile=\${STENO_PROFILE-} at=\${words[(I)--profile]} given=\${words[(R)--profile=*]}
  if ((at && at < CURRENT - 1)); then
    profile=\${(Q)words[at + 1]}
  elif [[ -n $given ]]; then
    profile=\${(Q)given#*=}
  fi
  ((\${words[(I)--sandbox]})) && profile=sandbox
  local -a shared=(
${root.flags
  .flatMap(flagSpecs)
  .map((spec) => `    ${spec}\n`)
  .join('')}  )
${group(root)}}
`;
}

function commandFunction(node: CommandNode): string {
  return `${functionName(node)}() {\n${node.children.length ? group(node) : leaf(node)}}\n`;
}

function leaf(node: CommandNode): string {
  const specs = [
    ...node.flags.flatMap(flagSpecs),
    '"$shared[@]"',
    ...node.args.map((argument, at) => argumentSpec(node, argument, at)),
  ];
  return `  _arguments -S ${specs.join(' \\\n    ')}\n`;
}

function group(node: CommandNode): string {
  const own = node.path.length ? node.flags.flatMap(flagSpecs) : [];
  const specs = [...own, '"$shared[@]"', "'1:command:->command'", "'*::argument:->rest'"];
  const described = node.children.flatMap(({ names, summary }) =>
    names.map((name) => describedWord(name, summary)),
  );
  // A command may take one of its subcommands or a word.
  const { values = [], meaning = noMeaning } = node.args[0] ?? {};
  if (typeof values !== 'string')
    described.push(...values.map((value) => describedWord(value, meaning(value))));
  const choices = node.children.map(
    (child) => `        ${child.names.map(quote).join(' | ')}) ${functionName(child)} && ret=0 ;;\n`,
  );
  return `  local curcontext=$curcontext state state_descr ret=1
  local -a line commands=(
${described.map((each) => `    ${each}\n`).join('')}  )
  local -A opt_args
  _arguments -C -S -A '-*' ${specs.join(' \\\n    ')} && ret=0
  case $state in
    command) _describe -t commands command commands && ret=0 ;;
    rest)
      case $words[1] in
${choices.join('')}      esac
      ;;
  esac
  return ret
`;
}

const describedWord = (word: string, about: string): string =>
  quote(`${word.replaceAll(':', '\\:')}:${about}`);

const afterName = (node: CommandNode): string => `_steno_after${functionName(node).slice('_steno'.length)}`;

/** Offers the values that follow from an argument before. */
function afterFunctions(node: CommandNode): string[] {
  return node.args.flatMap(({ valuesAfter }) => {
    const rows = Object.entries(valuesAfter).map(
      ([word, values]) => `      ${quote(word)}) ${callWithOptions(action(values))} && return ;;\n`,
    );
    if (!rows.length) return [];
    return `${afterName(node)}() {
  local each
  for each in "\${(Q)words[2,CURRENT - 1][@]}"; do
    case $each in
${rows.join('')}    esac
  done
  return 1
}
`;
  });
}

/** As `_arguments` would call it: with options of compadd before the action's own words. */
function callWithOptions(call: string): string {
  const [name = '', ...rest] = call.split(' ');
  return [name, '"$@"', ...rest].join(' ');
}

/** One `_arguments` spec a name; unless the flag may be repeated, each excludes the other names. */
function flagSpecs(flag: Flag): string[] {
  const others = flag.names.length > 1 ? `(${flag.names.join(' ')})` : '';
  const value = flag.takesValue ? `:${escaped(flag.valueName)}:${flagAction(flag) || ' '}` : '';
  return flag.names.map((name) => {
    const separator = flag.takesValue ? valueSeparator(name) : '';
    return quote(`${flag.many ? '*' : others}${name}${separator}[${escaped(flag.help)}]${value}`);
  });
}

/** `--name=value` or `--name value`; `-nvalue` or `-n value`. */
const valueSeparator = (name: string): string => (name.startsWith('--') ? '=' : '+');

function argumentSpec(node: CommandNode, argument: Positional, at: number): string {
  const { name, many, values, meaning, valuesAfter } = argument;
  const after = Object.keys(valuesAfter).length ? afterName(node) : '';
  return quote(`${many ? '*' : at + 1}:${escaped(name)}:${after || action(values, meaning) || '()'}`);
}

function flagAction({ names, values, meaning, list, onlyOneOf }: Flag): string {
  if (!list) return action(values, meaning);
  if (typeof values === 'string') return `_steno_ids list-${values}`;
  return `_steno_words list ${names.join(',')} ${onlyOneOf.join(',') || '-'} ${escapedWords(values, meaning)}`;
}

function action(values: Values, meaning?: Meaning): string {
  if (values === 'file') return '_files';
  if (values === 'folder') return '_files -/';
  if (typeof values === 'string') return `_steno_ids ${values}`;
  return values.length ? `_steno_words word ${escapedWords(values, meaning)}` : '';
}

/** Each word and its meaning, as two words; `-` where there is none. */
const escapedWords = (values: readonly string[], meaning = noMeaning): string =>
  values
    .flatMap((value) => [value, meaning(value) || '-'])
    .map((each) => each.replace(/[^\w./-]/g, '\\$&'))
    .join(' ');

/** A colon or a bracket would end a part of an `_arguments` spec. */
const escaped = (text: string): string => text.replace(/[\\[\]:]/g, '\\$&');

// In both functions, because the effect of compset ends with the function that calls it.
const afterComma = `    used=(\${(s:,:)PREFIX%,*})
    compset -P '*,' || used=()
    compset -S ',*'`;

const head = `# Fills shown with a line for each of offers: the word, and what abouts says of it.
_steno_shown() {
  local i each width=0
  for each in $offers; do ((\${(m)#each} > width)) && width=\${(m)#each}; done
  for ((i = 1; i <= $#offers; i++)); do
    if [[ -z $abouts[i] || $abouts[i] == - ]]; then
      shown+=("$offers[i]")
    else
      shown+=("\${(mr:COLUMNS - 1:):-\${(mr:width:)offers[i]}  -- $abouts[i]}")
    fi
  done
}

# Offers words. Arguments: options of compadd, then 'list' or 'word', then each word and what it means (or -). Between
# 'list' and the words stand the names of the flag, and the words that exclude each other.
_steno_words() {
  local at=\${@[(i)(list|word)]} i
  local -a used offers abouts shown pairs=("\${@[at + 1,-1]}")
  if [[ $@[at] == list ]]; then
    local -a names=(\${(s:,:)@[at + 1]}) one=(\${(s:,:)@[at + 2]}) chosen
    pairs=("\${@[at + 3,-1]}")
${afterComma}
    for ((i = 2; i < CURRENT; i++)); do
      if ((i < CURRENT - 1 && \${names[(Ie)$words[i]]})); then
        used+=(\${(s:,:)\${(Q)words[i + 1]}})
      elif [[ $words[i] == --*=* ]] && ((\${names[(Ie)\${words[i]%%=*}]})); then
        used+=(\${(s:,:)\${(Q)words[i]#*=}})
      fi
    done
    chosen=(\${one:*used})
    (($#chosen)) && used+=($one)
  fi
  for ((i = 1; i < $#pairs; i += 2)); do
    offers+=("$pairs[i]")
    abouts+=("$pairs[i + 1]")
  done
  if [[ -z \${abouts:#-} ]]; then
    compadd "\${@[1,at - 1]}" -F used -a offers
  else
    _steno_shown
    compadd "\${@[1,at - 1]}" -F used -l -d shown -a offers
  fi
}

# Offers what steno knows: ids from the ledger, profiles and so on, each with its description. Arguments: options of
# compadd, then the kind.
_steno_ids() {
  local kind=$@[-1] found each
  local -a used offers abouts shown
  if [[ $kind == list-* ]]; then
${afterComma}
  fi
  [[ $PREFIX == -* ]] && return 1
  found=$(STENO_PROFILE=$profile command steno __complete \${kind#list-} "\${(Q)PREFIX}" 2>/dev/null </dev/null) || return 1
  for each in \${(f)found}; do
    offers+=("\${each%%$'\\t'*}")
    abouts+=("\${\${each#*$'\\t'}:--}")
  done
  _steno_shown
  compadd "\${@[1,-2]}" -F used -l -d shown -a offers
}
`;

const tail = `if [[ $funcstack[1] == _steno ]]; then
  _steno "$@"
else
  compdef _steno steno
fi
`;
