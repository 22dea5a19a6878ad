import {
  type CommandNode,
  everyNode,
  type Flag,
  type Meaning,
  noMeaning,
  type Positional,
  pathOf,
  type Values,
} from './model.ts';

export function fishScript(root: CommandNode): string {
  const [, ...nodes] = everyNode(root);
  const commands = [root, ...nodes].filter((node) => node.children.length).flatMap(commandLines);
  return [
    walk([root, ...nodes]),
    helpers,
    'complete -c steno -f',
    ...commands,
    ...root.flags.map((flag) => flagLine(flag, overridden(flag, nodes))),
    ...nodes.flatMap((node) => [
      ...node.flags.map((flag) => flagLine(flag, at(node))),
      ...argumentLines(node),
    ]),
    '',
  ].join('\n');
}

const at = (node: CommandNode, count?: number, after?: string): string =>
  ['__steno_at', words([pathOf(node)]), count ?? '', after === undefined ? '' : words([after])]
    .join(' ')
    .trim();

/** Commands with a flag of their own of that name: there the global one is not offered. */
function overridden(flag: Flag, nodes: readonly CommandNode[]): string {
  const own = nodes.filter((node) => node.flags.some((each) => each.names[0] === flag.names[0]));
  return own.map((node) => `not ${at(node)}`).join('; and ');
}

function commandLines(node: CommandNode): string[] {
  return node.children.flatMap(({ names, summary }) =>
    names.map((name) => line(at(node, 0), `-a ${quote(words([name]))}`, `-d ${quote(summary)}`)),
  );
}

function flagLine(flag: Flag, condition: string): string {
  const names = flag.names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const value = flag.takesValue ? flagOffer(flag) || '-x' : '';
  return line(condition, ...names, value, `-d ${quote(flag.help)}`);
}

function argumentLines(node: CommandNode): string[] {
  return node.args.flatMap((argument, index) => [
    ...afterLines(node, argument, index),
    ...offerLine(at(node, argument.many ? undefined : index), argument.values, argument.meaning),
  ]);
}

function afterLines(node: CommandNode, { valuesAfter }: Positional, index: number): string[] {
  return Object.entries(valuesAfter).flatMap(([word, values]) => offerLine(at(node, index, word), values));
}

function offerLine(condition: string, values: Values, meaning?: Meaning): string[] {
  const offered = values === 'file' ? '-F' : offer(values, meaning);
  return offered ? [line(condition, offered)] : [];
}

function line(condition: string, ...parts: readonly string[]): string {
  return ['complete -c steno', condition && `-n ${quote(condition)}`, ...parts].filter(Boolean).join(' ');
}

function flagOffer({ names, values, meaning, list, onlyOneOf }: Flag): string {
  if (!list) return offer(values, meaning);
  const all =
    typeof values === 'string'
      ? `__steno_ids ${values}`
      : `printf "%s\\n" ${describedWords(values, meaning)}`;
  return `-x -a ${quote(`(${all} | __steno_list ${words([names[0] ?? '', ...onlyOneOf])})`)}`;
}

function offer(values: Values, meaning?: Meaning): string {
  if (values === 'file') return '-r -F';
  if (values === 'folder') return "-x -a '(__fish_complete_directories (__steno_typed))'";
  if (typeof values === 'string') return `-x -a '(__steno_ids ${values})'`;
  return values.length ? `-x -a ${quote(describedWords(values, meaning))}` : '';
}

const quote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** Words for a command line that fish parses a second time. */
const words = (list: readonly string[]): string =>
  list.map((word) => (/^[\w./-]+$/.test(word) ? word : `"${word.replace(/[\\"$]/g, '\\$&')}"`)).join(' ');

/** Each with its meaning after a tab. */
const describedWords = (values: readonly string[], meaning = noMeaning): string =>
  values
    .map((value) => (meaning(value) ? `${words([value])}\\t${words([meaning(value)])}` : words([value])))
    .join(' ');

function walk(nodes: readonly CommandNode[]): string {
  const valued = nodes.flatMap((node) =>
    node.flags
      .filter((flag) => flag.takesValue)
      .flatMap((flag) => flag.names.map((name) => quote(`${node.path.length ? pathOf(node) : '*'}:${name}`))),
  );
  const children = nodes.flatMap((node) =>
    node.children.map((child) => {
      const keys = child.names.map((name) => quote(`0:${pathOf(node)}:${name}`));
      return `            case ${keys.join(' ')}\n                set path ${quote(pathOf(child))}\n`;
    }),
  );
  return `# Prints the command at the cursor, the number of arguments before it, the profile, and the last of those arguments.
function __steno_where
    set -l path ''
    set -l count 0
    set -l flag ''
    set -l rest ''
    set -l last ''
    set -l sandbox ''
    set -l profile "$STENO_PROFILE"
    set -l tokens (commandline -opc)
    for token in $tokens[2..-1]
        if test -n "$flag"
            test "$flag" = --profile; and set profile $token
            set flag ''
            continue
        end
        if test -z "$rest"; and string match -q -- '-?*' "$token"
            switch "$path:$token"
            case '*:--'
                set rest 1
            case '*:--sandbox'
                set sandbox 1
            case '*:--profile=*'
                set profile (string replace -- --profile= '' $token)
            case ${valued.join(' ')}
                set flag $token
            end
            continue
        end
        # After an argument, a word is never a subcommand.
        switch "$count:$path:$token"
${children
  .join('')
  .replace(/^ {12}/gm, '        ')
  .replace(/^ {16}/gm, '            ')}        case '*'
            set count (math $count + 1)
            set last $token
        end
    end
    test -n "$sandbox"; and set profile sandbox
    printf '%s\\n' "$path" $count "$profile" "$last"
end
`;
}

const helpers = `function __steno_at
    set -l where (__steno_where)
    test "$where[1]" = "$argv[1]"; and begin
        test (count $argv) = 1; or test $where[2] = $argv[2]
    end; and begin
        test (count $argv) -lt 3; or test "$where[4]" = "$argv[3]"
    end
end

# The typed part of a value, without its flag and quotes.
function __steno_typed
    set -l token (commandline -ct)
    set -l plain (string unescape -- "$token"); or set plain (string replace -ra -- '["\\']' '' "$token")
    string replace -r -- '^--[^=]*=' '' "$plain"
end

# Completes only what follows the last comma, and offers no value twice. Arguments: the flag, then values that exclude
# each other.
function __steno_list
    set -l given (string match -r -- '^.*,' (__steno_typed))
    set -l used (string split -- , "$given")
    set -l previous ''
    for token in (commandline -opc)
        test "$previous" = "$argv[1]"; and set -a used (string split -- , "$token")
        string match -q -- "$argv[1]=*" "$token"; and set -a used (string split -- , (string replace -- "$argv[1]=" '' "$token"))
        set previous "$token"
    end
    for each in $argv[2..-1]
        if contains -- $each $used
            set -a used $argv[2..-1]
            break
        end
    end
    while read -l offered
        contains -- (string split -f 1 -- \\t $offered) $used; or printf '%s\\n' "$given$offered"
    end
end

# Ids from the ledger, each with its description.
function __steno_ids
    set -l typed (__steno_typed | string replace -r -- '^.*,' '')
    command -q steno; and not string match -q -- '-*' "$typed"; or return 0
    set -lx STENO_PROFILE (__steno_where)[3]
    set -l found (command steno __complete $argv[1] "$typed" 2>/dev/null </dev/null)
    and test -n "$found"; and printf '%s\\n' $found
end
`;
