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

export function powershellScript(root: CommandNode): string {
  return `Register-ArgumentCompleter -Native -CommandName steno -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $nodes = @{
${everyNode(root).map(nodeEntry).join('')}    }

${engine}}
`;
}

function nodeEntry(node: CommandNode): string {
  return `        ${quote(pathOf(node))} = @{
${entries('Commands', node.children.map(commandEntry))}${entries('Flags', node.flags.map(flagEntry))}${entries('Arguments', node.args.map(argumentEntry))}        }
`;
}

function entries(name: string, rows: readonly string[]): string {
  const inside = rows.map((row) => `                @{ ${row} }\n`).join('');
  return rows.length ? `            ${name} = @(\n${inside}            )\n` : `            ${name} = @()\n`;
}

const commandEntry = (node: CommandNode): string =>
  `Names = ${array(node.names)}; Path = ${quote(pathOf(node))}; Help = ${quote(node.summary)}`;

function flagEntry({ names, takesValue, list, values, meaning, onlyOneOf, help }: Flag): string {
  const only = onlyOneOf.length ? `OnlyOneOf = ${array(onlyOneOf)}; ` : '';
  const value = takesValue
    ? `Value = $true; List = $${list}; ${only}${offer(values, meaning)}`
    : 'Value = $false';
  return `Names = ${array(names)}; ${value}; Help = ${quote(help)}`;
}

function argumentEntry({ name, many, values, meaning, valuesAfter }: Positional): string {
  const help = `Help = ${quote(name)}`;
  const after = Object.entries(valuesAfter).map(
    ([word, follow]) =>
      `${quote(word)} = @{ List = $false; ${offer(follow, noMeaning)}; After = @{}; ${help} }`,
  );
  return `Many = $${many}; List = $false; ${offer(values, meaning)}; After = @{ ${after.join('; ')} }; ${help}`;
}

function offer(values: Values, meaning: Meaning): string {
  if (typeof values === 'string') return `Kind = ${quote(values)}; Offers = @(); About = @{}`;
  const about = values.filter(meaning).map((value) => `${quote(value)} = ${quote(meaning(value))}`);
  return `Kind = ''; Offers = ${array(values)}; About = @{ ${about.join('; ')} }`;
}

const array = (list: readonly string[]): string => `@(${list.map(quote).join(', ')})`;

/** PowerShell reads curly quotes as quotes too. */
const quote = (text: string): string => `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;

const engine = `    # The words before the cursor, and the one at it.
    $text = $commandAst.Extent.Text
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    if ($length -gt $text.Length) { $text += ' ' } else { $text = $text.Substring(0, $length) }
    $words = @([regex]::Matches($text, '(?:''[^'']*(?:''|$)|"[^"]*(?:"|$)|[^\\s''"])+') |
        ForEach-Object { $_.Value -replace '[''"]', '' })
    $current = ''
    if ($text -notmatch '\\s$') {
        $current = $words[-1]
        $words = @($words | Select-Object -SkipLast 1)
    }

    $findFlag = {
        param($name)
        @($nodes[$path].Flags) + @($nodes[''].Flags) |
            Where-Object { $_.Value -and $_.Names -ccontains $name } |
            Select-Object -First 1
    }

    $path = ''
    $count = 0
    $flag = $null
    $rest = $false
    $last = ''
    $sandbox = $false
    $profileName = $env:STENO_PROFILE
    $given = @()
    foreach ($word in @($words | Select-Object -Skip 1)) {
        if ($flag) {
            if ($flag.Names -ccontains '--profile') { $profileName = $word }
            $given += @{ Name = $flag.Names[0]; Value = $word }
            $flag = $null
        } elseif (-not $rest -and $word -eq '--') {
            $rest = $true
        } elseif (-not $rest -and $word -like '-?*') {
            if ($word -clike '--profile=*') { $profileName = $word.Substring(10) }
            if ($word -ceq '--sandbox') { $sandbox = $true }
            if ($word -match '^(--[^=]+)=(.*)$') { $given += @{ Name = $Matches[1]; Value = $Matches[2] } }
            $flag = & $findFlag $word
        } else {
            $child = $nodes[$path].Commands | Where-Object { $_.Names -ccontains $word } | Select-Object -First 1
            if ($child -and $count -eq 0) {
                $path = $child.Path
            } else {
                $count++
                $last = $word
            }
        }
    }
    if ($sandbox) { $profileName = 'sandbox' }

    $typed = $current
    $source = $null
    $found = @()
    if ($flag) {
        $source = $flag
    } elseif (-not $rest -and $current -match '^(--[^=]+)=(.*)$') {
        $typed = $Matches[2]
        $source = & $findFlag $Matches[1]
    } elseif (-not $rest -and $current -like '-*') {
        $found = foreach ($each in @($nodes[$path].Flags) + @($nodes[''].Flags)) {
            foreach ($name in $each.Names) { @{ Text = $name; Help = $each.Help } }
        }
    } else {
        if ($count -eq 0) {
            $found = foreach ($each in $nodes[$path].Commands) {
                foreach ($name in $each.Names) { @{ Text = $name; Help = $each.Help } }
            }
        }
        $arguments = @($nodes[$path].Arguments)
        if ($count -lt $arguments.Count) {
            $source = $arguments[$count]
        } elseif ($arguments.Count -and $arguments[-1].Many) {
            $source = $arguments[-1]
        }
        if ($source -and $source.After.ContainsKey($last)) { $source = $source.After[$last] }
    }

    $used = @()
    if ($source -and $source.List) {
        $used = @($typed -split ',' | Select-Object -SkipLast 1)
        $typed = @($typed -split ',')[-1]
        foreach ($each in $given) {
            if ($source.Names -ccontains $each.Name) { $used += $each.Value -split ',' }
        }
        if (@($source.OnlyOneOf | Where-Object { $used -ccontains $_ }).Count) { $used += $source.OnlyOneOf }
    }
    # PowerShell may replace more than the typed part: what comes before it is kept.
    $before = ''
    if ($wordToComplete.EndsWith($typed)) {
        $before = $wordToComplete.Substring(0, $wordToComplete.Length - $typed.Length) -replace '[''"]', ''
    }

    if ($source -and $source.Kind -in 'file', 'folder') {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) |
            Where-Object { $source.Kind -eq 'file' -or $_.ResultType -eq 'ProviderContainer' } |
            ForEach-Object {
                [System.Management.Automation.CompletionResult]::new(
                    $before + $_.CompletionText, $_.ListItemText, $_.ResultType, $_.ToolTip)
            }
        return
    }
    if ($source -and $source.Kind) {
        $keptProfile = $env:STENO_PROFILE
        $keptCode = $global:LASTEXITCODE
        try {
            $env:STENO_PROFILE = $profileName
            $lines = @(& steno __complete $source.Kind $typed 2>$null)
            if ($LASTEXITCODE -eq 0) {
                $found = foreach ($line in $lines) {
                    $id, $what = $line -split "\`t", 2
                    @{ Text = $id; Help = $what }
                }
            }
        } catch {
        } finally {
            $env:STENO_PROFILE = $keptProfile
            $global:LASTEXITCODE = $keptCode
        }
    } elseif ($source) {
        $found = @($found) + @(foreach ($each in $source.Offers) {
            $about = $source.About[$each]
            @{ Text = $each; Help = if ($about) { $about } else { $source.Help } }
        })
    }

    foreach ($each in $found) {
        $value = $each.Text
        if (-not $value -or $used -contains $value) { continue }
        if (-not $value.StartsWith($typed, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
        $shown = if ($each.Help) { $each.Help } else { $value }
        if ($value -notmatch '^[\\w./-]+$') { $value = "'" + ($value -replace "'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($before + $value, $each.Text, 'ParameterValue', $shown)
    }
`;
