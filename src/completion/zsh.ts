import { type CommandNode, everyNode, type Flag, type Positional } from './model.ts';
import { inSingleQuotes as quote } from './quote.ts';

export function zshScript(root: CommandNode): string {
  const [, ...nodes] = everyNode(root);
  return [head, entry(root), ...nodes.map(commandFunction), tail].join('\n');
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
  const specs = [...node.flags.flatMap(flagSpecs), '"$shared[@]"', ...node.args.map(argumentSpec)];
  return `  _arguments -S ${specs.join(' \\\n    ')}\n`;
}

function group(node: CommandNode): string {
  const own = node.path.length ? node.flags.flatMap(flagSpecs) : [];
  const specs = [...own, '"$shared[@]"', "'1:command:->command'", "'*::argument:->rest'"];
  const described = node.children.flatMap(({ names, summary }) =>
    names.map((name) => quote(`${name.replaceAll(':', '\\:')}:${summary}`)),
  );
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

function argumentSpec({ name, many, values }: Positional, at: number): string {
  return quote(`${many ? '*' : at + 1}:${escaped(name)}:${action(values) || '()'}`);
}

function flagAction({ names, values, list, onlyOneOf }: Flag): string {
  if (!list) return action(values);
  if (typeof values === 'string') return `_steno_ids list-${values}`;
  return `_steno_words list ${names.join(',')} ${onlyOneOf.join(',') || '-'} ${escapedWords(values)}`;
}

function action(values: Flag['values']): string {
  if (values === 'file') return '_files';
  if (values === 'folder') return '_files -/';
  if (typeof values === 'string') return `_steno_ids ${values}`;
  return values.length ? `_steno_words word ${escapedWords(values)}` : '';
}

const escapedWords = (values: readonly string[]): string =>
  values.map((each) => each.replace(/[^\w./-]/g, '\\$&')).join(' ');

/** A colon or a bracket would end a part of an `_arguments` spec. */
const escaped = (text: string): string => text.replace(/[\\[\]:]/g, '\\$&');

// In both functions, because the effect of compset ends with the function that calls it.
const afterComma = `    used=(\${(s:,:)PREFIX%,*})
    compset -P '*,' || used=()
    compset -S ',*'`;

const head = `# Offers words. Arguments: options of compadd, then 'list' or 'word', then the words. Between 'list' and the words
# stand the names of the flag, and the words that exclude each other.
_steno_words() {
  local at=\${@[(i)(list|word)]} i
  local -a used offers=("\${@[at + 1,-1]}")
  if [[ $@[at] == list ]]; then
    local -a names=(\${(s:,:)@[at + 1]}) one=(\${(s:,:)@[at + 2]}) chosen
    offers=("\${@[at + 3,-1]}")
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
  compadd "\${@[1,at - 1]}" -F used -a offers
}

# Offers ids from the ledger with their descriptions. Arguments: options of compadd, then the kind.
_steno_ids() {
  local kind=$@[-1] found each
  local -a used ids shown
  if [[ $kind == list-* ]]; then
${afterComma}
  fi
  [[ $PREFIX == -* ]] && return 1
  found=$(STENO_PROFILE=$profile command steno __complete \${kind#list-} "\${(Q)PREFIX}" 2>/dev/null </dev/null) || return 1
  for each in \${(f)found}; do
    ids+=("\${each%%$'\\t'*}")
    shown+=("\${each/$'\\t'/  -- }")
  done
  compadd "\${@[1,-2]}" -F used -l -d shown -a ids
}
`;

const tail = `if [[ $funcstack[1] == _steno ]]; then
  _steno "$@"
else
  compdef _steno steno
fi
`;
