/** The script of each shell, which hands the command line to `steno __complete`, and the answer that it gets. */
import { CommandLine, type Fitting } from './engine.ts';
import type { AskedKind, CommandNode, Offer, Shell } from './model.ts';

export interface Known {
  readonly root: CommandNode;
  /** Ids or names of one kind that begin with what is typed. */
  readonly lookUp: (kind: AskedKind, typed: string, profile: string | undefined) => Promise<readonly Offer[]>;
}

/**
 * Takes the words up to the cursor without their quotes, `steno` first; bash gives its line and some of its variables.
 * The first line of the answer says who completes: `file` and `folder` are left to the shell. Then come what stays of
 * the word at the cursor, the rest of that word, and the values.
 */
export async function answer(
  shell: Shell,
  input: readonly string[],
  { root, lookUp }: Known,
): Promise<string[]> {
  const bash = readBash(input);
  const words = shell === 'bash' ? bash.words : input;
  const line = new CommandLine(root, words.slice(1, -1));
  const fitting = line.fitting(words.at(-1) ?? '');
  const { offers, head, typed, used } = fitting;
  const word = [head, typed].map((text) => text.replace(/\s/g, ' '));
  if (offers === 'file' || offers === 'folder') return [offers, ...word];
  const found = typeof offers === 'string' ? await lookUp(offers, typed, line.profile) : offers;
  // A word that begins no id may begin a path.
  if (offers === 'audiofile-or-path' && found.length === 0) return ['file', ...word];
  const unused = found.filter(([value]) => !used.includes(value));
  return ['words', ...word, ...formats[shell](unused, fitting, bash)];
}

type Format = (offers: readonly Offer[], fitting: Fitting, bash: BashInput) => string[];

/** zsh and fish choose from all values, as their users have them match; the others take what they are given. */
const formats: Record<Shell, Format> = {
  bash: bashReplies,
  zsh: (offers) => offers.map((offer) => offer.filter(Boolean).map(forDescribe).join(':')),
  fish: (offers, { head }) => offers.map(([value, about]) => `${head}${value}\t${about}`),
  powershell: (offers, { typed }) =>
    offers
      .filter(([value]) => value.toLowerCase().startsWith(typed.toLowerCase()))
      .map((offer) => offer.join('\t')),
};

const forDescribe = (text: string): string => text.replace(/[\\:]/g, '\\$&');

interface BashInput {
  readonly words: readonly string[];
  /** What readline leaves alone of the last word: it replaces what follows a word break or an opening quote. */
  readonly kept: string;
  readonly inQuotes: boolean;
  /** Only a list is shown (COMP_TYPE 63), so that a description does not get into the line. */
  readonly lists: boolean;
  readonly width: number;
}

/** Splits the line up to the cursor as it will be parsed: COMP_WORDS is split at = and : too. */
function readBash([line = '', wordBreaks = '', type, width]: readonly string[]): BashInput {
  const words: string[] = [];
  let [word, kept, isStarted, inQuotes] = ['', '', false, false];
  const parts = line.matchAll(/\s+|\\(.?)|'([^']*)('?)|"((?:\\.?|[^"\\])*)("?)|./gs);
  for (const [part, escaped, single, singleEnd, double, doubleEnd] of parts) {
    if (/^\s/.test(part)) {
      if (isStarted) words.push(word);
      [word, kept, isStarted] = ['', '', false];
      continue;
    }
    const quoted = single ?? double?.replace(/\\(.?)/gs, '$1');
    inQuotes = quoted !== undefined && !singleEnd && !doubleEnd;
    if (inQuotes) kept = word;
    word += quoted ?? escaped ?? part;
    if (/^[=:@]$/.test(part) && wordBreaks.includes(part)) kept = word;
    isStarted = true;
  }
  return { words: [...words, word], kept, inQuotes, lists: type === '63', width: Number(width) || 80 };
}

/** What bash puts into the line as it is. */
function bashReplies(offers: readonly Offer[], { head, typed }: Fitting, bash: BashInput): string[] {
  const fitting = offers.filter(([value]) => value.startsWith(typed));
  return fitting.map(([value, about]) => {
    const text = `${head}${value}`.slice(bash.kept.length);
    const reply = bash.inQuotes ? text : text.replace(/[^\p{L}\p{N}_.,:=@%+/-]/gu, '\\$&');
    return bash.lists && about && fitting.length > 1
      ? `${reply}  (${about})`.slice(0, bash.width - 2)
      : reply;
  });
}

/** The path of each shell's script in the repository. */
export const scriptPaths: Record<Shell, string> = {
  bash: 'completions/steno.bash',
  zsh: 'completions/_steno',
  fish: 'completions/steno.fish',
  powershell: 'completions/steno.ps1',
};

export function completionScript(shell: Shell): string {
  const first = shell === 'zsh' ? '#compdef steno\n' : '';
  return `${first}# Completion of steno for ${shell}, generated from the program: changes made here are lost.
# steno says what fits at the cursor. It gets the line by stdin, so that no list of processes shows a key in it.

${scripts[shell]}`;
}

const bash = `_steno() {
  local answer kind typed each
  COMPREPLY=()
  answer=$(printf '%s\\0' "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" "\${COMP_TYPE-}" "\${COLUMNS-}" |
    command steno __complete bash 2>/dev/null) || return 0
  {
    read -r kind
    read -r each
    IFS= read -r typed
    while IFS= read -r each; do COMPREPLY+=("$each"); done
  } <<<"$answer"
  case $kind in
    file) compopt -o default 2>/dev/null || _steno_paths -f ;;
    folder) compopt -o dirnames 2>/dev/null || _steno_paths -d ;;
  esac
}

# For bash 3.2, which has no compopt.
_steno_paths() {
  while IFS= read -r each; do
    printf -v each %q "$each"
    COMPREPLY+=("$each")
  done < <(compgen "$1" -- "$typed")
}

complete -F _steno steno
`;

const zsh = `_steno() {
  local -a answer
  answer=("\${(@f)$(printf '%s\\0' "\${(@Q)words[1,CURRENT - 1]}" "\${(Q)PREFIX}" |
    command steno __complete zsh 2>/dev/null)}")
  local kind=$answer[1] head=$answer[2]
  answer[1,3]=()
  [[ $head == --*=* ]] && compset -P 1 '*='
  [[ $head == *, ]] && compset -P '*,' && compset -S ',*'
  case $kind in
    file) _files ;;
    folder) _files -/ ;;
    words) _describe -t values value answer ;;
    *) return 1 ;;
  esac
}

if [[ $funcstack[1] == _steno ]]; then
  _steno "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _steno steno
fi
`;

const fish = `# Fails where files fit: those fish offers by itself.
function __steno_fitting
    set -g __steno_offers
    command -q steno; or return 0
    set -l token (commandline -ct)
    set -l typed (string unescape -- "$token"); or set typed (string replace -ra -- '["\\']' '' "$token")
    set __steno_offers (printf '%s\\0' (commandline -opc) "$typed" | command steno __complete fish 2>/dev/null)
    set -l first $__steno_offers[1..3]
    set -e __steno_offers[1..3]
    switch "$first[1]"
        case file
            return 1
        case folder
            set __steno_offers "$first[2]"(__fish_complete_directories "$first[3]")
    end
end

complete -c steno -f -n __steno_fitting -a '$__steno_offers'
`;

const powershell = `Register-ArgumentCompleter -Native -CommandName steno -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $text = $commandAst.Extent.Text
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    if ($length -gt $text.Length) { $text += ' ' } else { $text = $text.Substring(0, $length) }
    $words = @([regex]::Matches($text, '(?:''[^'']*(?:''|$)|"[^"]*(?:"|$)|[^\\s''"])+') |
        ForEach-Object { $_.Value -replace '[''"]', '' })
    if ($text -match '\\s$') { $words += '' }

    $keptCode = $global:LASTEXITCODE
    $OutputEncoding = [System.Text.UTF8Encoding]::new($false)
    try {
        $kind, $null, $typed, $offers = @(($words -join "\`0") + "\`0" | & steno __complete powershell 2>$null)
    } catch {
        return
    } finally {
        $global:LASTEXITCODE = $keptCode
    }
    if (-not $kind) { return }

    # PowerShell may replace more than what is typed of a value: what comes before it is kept.
    $before = ''
    if ($wordToComplete.EndsWith($typed)) {
        $before = $wordToComplete.Substring(0, $wordToComplete.Length - $typed.Length) -replace '[''"]', ''
    }
    if ($kind -in 'file', 'folder') {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) |
            Where-Object { $kind -eq 'file' -or $_.ResultType -eq 'ProviderContainer' } |
            ForEach-Object {
                [System.Management.Automation.CompletionResult]::new(
                    $before + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip)
            }
    }
    foreach ($offer in $offers) {
        $value, $about = $offer -split "\`t", 2
        $text = if ($value -match '^[\\w./-]+$') { $value } else { "'" + ($value -replace "'", "''") + "'" }
        $shown = if ($about) { $about } else { $value }
        [System.Management.Automation.CompletionResult]::new($before + $text, $value, 'ParameterValue', $shown)
    }
}
`;

const scripts: Record<Shell, string> = { bash, zsh, fish, powershell };
