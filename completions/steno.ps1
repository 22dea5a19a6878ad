# Completion of steno for powershell, generated from the program: changes made here are lost.
# steno says what fits at the cursor. It gets the line by stdin, so that no list of processes shows a key in it.

Register-ArgumentCompleter -Native -CommandName steno -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $text = $commandAst.Extent.Text
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    if ($length -gt $text.Length) { $text += ' ' } else { $text = $text.Substring(0, $length) }
    $words = @([regex]::Matches($text, '(?:''[^'']*(?:''|$)|"[^"]*(?:"|$)|[^\s''"])+') |
        ForEach-Object { $_.Value -replace '[''"]', '' })
    if ($text -match '\s$') { $words += '' }

    $keptCode = $global:LASTEXITCODE
    $OutputEncoding = [System.Text.UTF8Encoding]::new($false)
    try {
        $kind, $null, $typed, $offers = @(($words -join "`0") + "`0" | & steno __complete powershell 2>$null)
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
        $value, $about = $offer -split "`t", 2
        $text = if ($value -match '^[\w./-]+$') { $value } else { "'" + ($value -replace "'", "''") + "'" }
        $shown = if ($about) { $about } else { $value }
        [System.Management.Automation.CompletionResult]::new($before + $text, $value, 'ParameterValue', $shown)
    }
}
