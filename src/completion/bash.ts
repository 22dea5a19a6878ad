import { type CommandNode, everyNode, type Flag, pathOf } from './model.ts';
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
    caseTable('argument', 'What to offer as the nth argument of a command.', args(nodes)),
    engine,
  ].join('\n');
}

function caseTable(name: string, comment: string, rows: readonly string[], after = ''): string {
  const last = after ? `  ${after}\n` : '';
  return `# ${comment}\n_steno_${name}() {\n  case $1:$2 in\n${rows.map((row) => `    ${row}\n`).join('')}  esac\n${last}}\n`;
}

const row = (keys: readonly string[], code: string): string =>
  `${keys.join(' | ')}) ${code ? `${code} ` : ''};;`;

function children(nodes: readonly CommandNode[]): string[] {
  const rows = nodes.flatMap((node) =>
    node.children.map((child) =>
      row(
        child.names.map((name) => quote(`${pathOf(node)}:${name}`)),
        `path=${quote(pathOf(child))}`,
      ),
    ),
  );
  return [...rows, '*) return 1 ;;'];
}

function flags(nodes: readonly CommandNode[]): string[] {
  return nodes
    .filter((node) => node.path.length && node.flags.length)
    .map((node) => row([quote(`${pathOf(node)}:`)], `offers=(${flagNames(node.flags)})`));
}

const flagNames = (list: readonly Flag[]): string => list.flatMap((each) => each.names).join(' ');

function flagValues(nodes: readonly CommandNode[]): string[] {
  // The root's flags come last, because a command's own flag of the same name has precedence.
  const rows = [...nodes].reverse().flatMap((node) =>
    node.flags
      .filter((each) => each.takesValue)
      .map((each) => {
        const keys = each.names.map((name) =>
          node.path.length ? quote(`${pathOf(node)}:${name}`) : `*${quote(`:${name}`)}`,
        );
        const only = each.onlyOneOf.length ? `one=${quote(`,${each.onlyOneOf.join(',')},`)}` : '';
        const code = [each.list ? 'list=1' : '', only, offer(each.values)];
        return row(keys, code.filter(Boolean).join(' '));
      }),
  );
  return [...rows, '*) return 1 ;;'];
}

function args(nodes: readonly CommandNode[]): string[] {
  return nodes.flatMap((node) => {
    const path = `${pathOf(node)}:`;
    const names = node.children.flatMap((child) => child.names);
    const commands = names.length ? [row([quote(`${path}0`)], offer(names))] : [];
    const offered = node.args.flatMap(({ values, many }, at) =>
      values.length ? [row([many ? `${quote(path)}*` : quote(`${path}${at}`)], offer(values))] : [],
    );
    return [...commands, ...offered];
  });
}

function offer(values: Flag['values']): string {
  if (typeof values === 'string') return `kind=${values}`;
  return values.length ? `offers=(${values.map(quote).join(' ')})` : '';
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

const engine = `# Adds a value that begins with what is typed, quoted as its place requires.
_steno_add() {
  local text=$head$1
  [[ $1 == "$typed"* ]] || return 0
  [[ $list && $used == *",$1,"* ]] && return 0
  [[ $taken && $one == *",$1,"* ]] && return 0
  text=\${text#"$keep"}
  if [[ -z $quote && \${2-} != raw ]]; then
    printf -v text %q "$text"
    text=\${text//\\\\,/,}
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
  while IFS= read -r each; do _steno_add "\${each%%$'\\t'*}"; done <<<"$found"
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
  local words=() cur= keep= quote= path= count=0 flag= rest= profile=\${STENO_PROFILE-}
  local kind= list= one= offers=() given=() head= typed i word
  COMPREPLY=()
  _steno_words
  for ((i = 1; i < \${#words[@]}; i++)); do
    word=\${words[i]}
    if [[ $flag ]]; then
      [[ $flag == --profile ]] && profile=$word
      given+=("$flag=$word")
      flag=
    elif [[ $rest || $word != -?* ]]; then
      [[ $count == 0 ]] && _steno_child "$path" "$word" || count=$((count + 1))
    elif [[ $word == -- ]]; then
      rest=1
    elif [[ $word == --*=* ]]; then
      [[ $word == --profile=* ]] && profile=\${word#*=}
      given+=("$word")
    elif [[ $word == --sandbox ]]; then
      profile=sandbox
    elif _steno_value "$path" "$word"; then
      flag=$word
    fi
  done
  kind= list= one= offers=() typed=$cur
  if [[ $flag ]]; then
    _steno_value "$path" "$flag"
  elif [[ $rest || $cur != -* ]]; then
    _steno_argument "$path" "$count"
  elif [[ $cur != --*=* ]]; then
    _steno_flags "$path" ''
  elif _steno_value "$path" "\${cur%%=*}"; then
    flag=\${cur%%=*} head=\${cur%%=*}= typed=\${cur#*=}
  fi
  _steno_offer
}

complete -F _steno steno
`;
