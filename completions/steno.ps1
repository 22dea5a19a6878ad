# Completion of steno for powershell, generated from the program: changes made here are lost.

Register-ArgumentCompleter -Native -CommandName steno -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $nodes = @{
        '' = @{
            Commands = @(
                @{ Names = @('order'); Path = 'order'; Help = 'Order transcription of audio at one or more URLs' }
                @{ Names = @('attempts'); Path = 'attempts'; Help = 'List purchases whose outcome is not known' }
                @{ Names = @('ignore'); Path = 'ignore'; Help = 'Leave audio out of lists, feeds and folders' }
                @{ Names = @('files', 'ls'); Path = 'files'; Help = 'List what the ledger knows of your orders and files' }
                @{ Names = @('file'); Path = 'file'; Help = 'Show the details and the state of files' }
                @{ Names = @('track'); Path = 'track'; Help = 'Take files into the ledger that were ordered elsewhere' }
                @{ Names = @('wait'); Path = 'wait'; Help = 'Wait until files are delivered' }
                @{ Names = @('transcript'); Path = 'transcript'; Help = 'Download transcripts' }
                @{ Names = @('sync'); Path = 'sync'; Help = 'Refresh every open file and download what is new' }
                @{ Names = @('upgrade'); Path = 'upgrade'; Help = 'Upgrade files' }
                @{ Names = @('refund'); Path = 'refund'; Help = 'Refund files on which no work has been done' }
                @{ Names = @('balance'); Path = 'balance'; Help = 'Show the prepay balance in USD' }
                @{ Names = @('invoice'); Path = 'invoice'; Help = 'Show invoices with their items and totals' }
                @{ Names = @('budget'); Path = 'budget'; Help = 'Show the budget, what was bought under it, and what is left' }
                @{ Names = @('report'); Path = 'report'; Help = 'Show what was spent, how long it took, and what is late' }
                @{ Names = @('log'); Path = 'log'; Help = 'Show who ordered, upgraded or refunded what, and what it cost' }
                @{ Names = @('listen'); Path = 'listen'; Help = 'Receive events, keep them, and act on them' }
                @{ Names = @('events'); Path = 'events'; Help = 'List what listen has received' }
                @{ Names = @('webhook'); Path = 'webhook'; Help = 'Read, set and test the account''s webhook' }
                @{ Names = @('login'); Path = 'login'; Help = 'Keep the key of your account' }
                @{ Names = @('logout'); Path = 'logout'; Help = 'Forget the key of a profile' }
                @{ Names = @('whoami'); Path = 'whoami'; Help = 'Show the key (masked) and where each setting came from' }
                @{ Names = @('config'); Path = 'config'; Help = 'Read and change the settings of a profile' }
                @{ Names = @('ledger'); Path = 'ledger'; Help = 'Look after the ledger: back up, move, share, clean' }
                @{ Names = @('doctor'); Path = 'doctor'; Help = 'Check the set-up line by line, and say what to do' }
                @{ Names = @('skus'); Path = 'skus'; Help = 'List the SKUs that can be ordered and upgraded' }
                @{ Names = @('states'); Path = 'states'; Help = 'List the states of files and invoices' }
                @{ Names = @('formats'); Path = 'formats'; Help = 'List the formats of transcripts' }
                @{ Names = @('sandbox'); Path = 'sandbox'; Help = 'Serve the whole API on this machine: no account, no cost' }
                @{ Names = @('api'); Path = 'api'; Help = 'Make a raw call, with the key added' }
                @{ Names = @('commands'); Path = 'commands'; Help = 'List every command, for programs' }
                @{ Names = @('schema'); Path = 'schema'; Help = 'Print the JSON schema of what a command prints' }
                @{ Names = @('completion'); Path = 'completion'; Help = 'Install or print the completion script of a shell' }
                @{ Names = @('help'); Path = 'help'; Help = 'Explain a command or a topic' }
            )
            Flags = @(
                @{ Names = @('--profile'); Value = $true; List = $false; Kind = 'profile'; Offers = @(); About = @{}; Help = 'use the settings of this profile' }
                @{ Names = @('--base-url'); Value = $true; List = $false; Kind = 'base-url'; Offers = @(); About = @{}; Help = 'address of the service, ending in /API4' }
                @{ Names = @('--api-key'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'key of the account; better kept by login or in the environment' }
                @{ Names = @('--sandbox'); Value = $false; Help = 'use the service inside steno: no account, no network, no cost' }
                @{ Names = @('--json'); Value = $false; Help = 'print one JSON document; its names and shape: steno help json' }
                @{ Names = @('--csv'); Value = $false; Help = 'print CSV rows with a header line' }
                @{ Names = @('--quiet'); Value = $false; Help = 'print only what a script needs next' }
                @{ Names = @('--no-color'); Value = $false; Help = 'print without colour' }
                @{ Names = @('--no-progress'); Value = $false; Help = 'no line that moves: on a terminal a plain line every ten seconds, or none with --quiet' }
                @{ Names = @('--no-pager'); Value = $false; Help = 'print long lists at once, not in a pager' }
                @{ Names = @('--debug'); Value = $false; Help = 'show on stderr what is sent and received, and the stack of an error' }
                @{ Names = @('--timeout'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'give up after this long' }
                @{ Names = @('--no-ledger'); Value = $false; Help = 'neither read nor write the ledger of your orders' }
                @{ Names = @('--help', '-h'); Value = $false; Help = 'explain this command' }
                @{ Names = @('--version', '-V'); Value = $false; Help = 'print the version' }
            )
            Arguments = @()
        }
        'order' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--sku'); Value = $true; List = $true; OnlyOneOf = @('TRANS14', 'TRANS2', 'TRANS6', 'TRANS7', 'EMSR02'); Kind = ''; Offers = @('TRANS14', 'TRANS2', 'TRANS6', 'TRANS7', 'EMSR02', 'DIFFQ2', 'TSTMP1', 'CAPTION1', 'VERBATIM1'); About = @{ 'TRANS14' = 'Budget transcription, target of 14 days'; 'TRANS2' = '1-day expert transcription'; 'TRANS6' = '6-day transcription'; 'TRANS7' = '6-day transcription (the same as TRANS6)'; 'EMSR02' = 'Advanced machine transcription'; 'DIFFQ2' = 'Difficult audio'; 'TSTMP1' = 'Timestamps'; 'CAPTION1' = 'Captions/subtitles'; 'VERBATIM1' = 'Verbatim' }; Help = 'a transcription and add-ons' }
                @{ Names = @('--from'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'take the URLs from a manifest, or from stdin with -' }
                @{ Names = @('--feed'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'order episodes of a podcast feed (RSS or Atom)' }
                @{ Names = @('--dry-run'); Value = $false; Help = 'show the orders and what they would cost; send nothing' }
                @{ Names = @('--wait'); Value = $false; Help = 'wait until the files are delivered' }
                @{ Names = @('--download'); Value = $true; List = $false; Kind = 'folder'; Offers = @(); About = @{}; Help = 'wait, and download the transcripts to this folder' }
                @{ Names = @('--skip-ordered'); Value = $false; Help = 'leave out URLs that are on order already' }
                @{ Names = @('--or-existing'); Value = $false; Help = 'count what is on order already as ordered' }
                @{ Names = @('--latest'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --feed, the newest n episodes' }
                @{ Names = @('--since'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --feed, episodes from then on: 2026-05-01, or 7d ago' }
                @{ Names = @('--match'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --feed, episodes whose title has it' }
                @{ Names = @('--hidden'); Value = $false; Help = 'in folders, include hidden files (.name) and follow links to folders' }
                @{ Names = @('--per-order'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'how many URLs go into one order' }
                @{ Names = @('--notes'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'comments for the transcribers' }
                @{ Names = @('--notes-file'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'take the comments from a file, or from stdin with -' }
                @{ Names = @('--name'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'a speaker''s name; repeat it for each' }
                @{ Names = @('--key'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'what tells this audio from others, in place of its URL' }
                @{ Names = @('--tag'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'a tag for the audio; repeat it for each' }
                @{ Names = @('--ignore-columns'); Value = $false; Help = 'with --from, ignore unknown columns' }
                @{ Names = @('--test'); Value = $false; Help = 'place a test order, which is not transcribed' }
                @{ Names = @('--max-cost'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'order nothing if it would cost more, or if that is not known' }
                @{ Names = @('--unpriced'); Value = $false; Help = 'under a budget, allow orders of unknown cost' }
                @{ Names = @('--up-to-budget'); Value = $false; Help = 'order rows from the top while they fit the budget' }
                @{ Names = @('--interval'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --wait or --download, the time between two polls' }
                @{ Names = @('--format'); Value = $true; List = $true; Kind = ''; Offers = @('txt', 'doc', 'rtf', 'html', 'srt', 'docx', 'tstxt', 'vtt'); About = @{ 'txt' = 'Plain text'; 'doc' = 'Word 97 to 2003'; 'rtf' = 'Rich text'; 'html' = 'Web page'; 'srt' = 'SubRip subtitles'; 'docx' = 'Word'; 'tstxt' = 'Plain text with timestamps'; 'vtt' = 'WebVTT subtitles' }; Help = 'with --download, the document types' }
                @{ Names = @('--name-as'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --download, the name of each file, with {id}, {title}, {order}, {key}, {tag}, {feed}, {guid}, {date}, {ext}, and {dir} and {basename} of the audio''s path or URL; unknown values become the id' }
                @{ Names = @('--fail-on-hold'); Value = $false; Help = 'exit with 5 if the order is put on hold' }
                @{ Names = @('--retry-unclear'); Value = $false; Help = 'with --skip-ordered: order again what had no clear answer' }
                @{ Names = @('--retry-ended'); Value = $false; Help = 'with --skip-ordered: order again what ended without a transcript' }
                @{ Names = @('--again'); Value = $false; Help = 'order again what is on order already' }
                @{ Names = @('--any-sku'); Value = $false; Help = 'accept SKUs that the API document does not list' }
                @{ Names = @('--param'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'send one more parameter as it is; repeat it for each' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; After = @{  }; Help = 'url' }
            )
        }
        'attempts' = @{
            Commands = @(
                @{ Names = @('settle'); Path = 'attempts settle'; Help = 'Say what became of an order, upgrade or refund' }
            )
            Flags = @()
            Arguments = @()
        }
        'attempts settle' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--placed'); Value = $true; List = $false; Kind = 'order'; Offers = @(); About = @{}; Help = 'it went through; an order also needs its id' }
                @{ Names = @('--file'); Value = $true; List = $true; Kind = ''; Offers = @(); About = @{  }; Help = 'with --placed, the audiofiles of the order' }
                @{ Names = @('--not-placed'); Value = $false; Help = 'it did not go through' }
                @{ Names = @('--reopen'); Value = $false; Help = 'it was settled by mistake: its outcome is not known' }
            )
            Arguments = @(
                @{ Many = $false; List = $false; Kind = 'attempt'; Offers = @(); About = @{}; After = @{  }; Help = 'n' }
            )
        }
        'ignore' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--list'); Value = $false; Help = 'show what is ignored' }
                @{ Names = @('--remove'); Value = $false; Help = 'stop ignoring it' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; After = @{  }; Help = 'url|key|guid' }
            )
        }
        'files' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--state'); Value = $true; List = $true; Kind = ''; Offers = @('Audio Processing', 'Awaiting Edit', 'Awaiting Final Approval', 'Billing Processing', 'Checking Audio Quality', 'Delivered', 'Editing to Word Count', 'Error', 'On Hold', 'Order Cancelled', 'Order Chargeable', 'Order Processing', 'Out for edit', 'Pre-Processing', 'Processing', 'Refunded', 'Technical Difficulty', 'Temporary Error', 'Transcribing'); About = @{ 'Audio Processing' = 'under way'; 'Awaiting Edit' = 'under way'; 'Awaiting Final Approval' = 'under way'; 'Billing Processing' = 'under way'; 'Checking Audio Quality' = 'under way'; 'Delivered' = 'the transcript is there'; 'Editing to Word Count' = 'under way'; 'Error' = 'no transcript comes'; 'On Hold' = 'waits for a release'; 'Order Cancelled' = 'no transcript comes'; 'Order Chargeable' = 'under way'; 'Order Processing' = 'under way'; 'Out for edit' = 'under way'; 'Pre-Processing' = 'under way'; 'Processing' = 'under way'; 'Refunded' = 'no transcript comes'; 'Technical Difficulty' = 'under way'; 'Temporary Error' = 'under way'; 'Transcribing' = 'under way' }; Help = 'only files in these states' }
                @{ Names = @('--since'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'only files ordered since then: 2026-11-01, or 3d ago' }
                @{ Names = @('--order'); Value = $true; List = $false; Kind = 'order'; Offers = @(); About = @{}; Help = 'only files of this order' }
                @{ Names = @('--key'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'only the file of this key' }
                @{ Names = @('--tag'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'only files with this tag' }
                @{ Names = @('--feed'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'only episodes of this feed' }
                @{ Names = @('--refresh'); Value = $false; Help = 'ask the service about every open file first' }
                @{ Names = @('--limit'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'show at most this many' }
            )
            Arguments = @()
        }
        'file' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--watch'); Value = $false; Help = 'go on and print each change of state' }
                @{ Names = @('--interval'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --watch, how often to ask' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'track' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--from'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'take ids from a file, one a line, or from stdin with -' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{  }; Help = 'id' }
            )
        }
        'wait' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--order'); Value = $true; List = $false; Kind = 'order'; Offers = @(); About = @{}; Help = 'wait for the files of this order' }
                @{ Names = @('--interval'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'time between two polls' }
                @{ Names = @('--download'); Value = $true; List = $false; Kind = 'folder'; Offers = @(); About = @{}; Help = 'download each transcript as it is delivered' }
                @{ Names = @('--format'); Value = $true; List = $true; Kind = ''; Offers = @('txt', 'doc', 'rtf', 'html', 'srt', 'docx', 'tstxt', 'vtt'); About = @{ 'txt' = 'Plain text'; 'doc' = 'Word 97 to 2003'; 'rtf' = 'Rich text'; 'html' = 'Web page'; 'srt' = 'SubRip subtitles'; 'docx' = 'Word'; 'tstxt' = 'Plain text with timestamps'; 'vtt' = 'WebVTT subtitles' }; Help = 'with --download, the document types' }
                @{ Names = @('--name-as'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --download, the name of each file, with {id}, {title}, {order}, {key}, {tag}, {feed}, {guid}, {date}, {ext}, and {dir} and {basename} of the audio''s path or URL; unknown values become the id' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'transcript' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--format'); Value = $true; List = $true; Kind = ''; Offers = @('txt', 'doc', 'rtf', 'html', 'srt', 'docx', 'tstxt', 'vtt'); About = @{ 'txt' = 'Plain text'; 'doc' = 'Word 97 to 2003'; 'rtf' = 'Rich text'; 'html' = 'Web page'; 'srt' = 'SubRip subtitles'; 'docx' = 'Word'; 'tstxt' = 'Plain text with timestamps'; 'vtt' = 'WebVTT subtitles' }; Help = 'document types' }
                @{ Names = @('--output', '-o'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'where to: a file, a folder, or - for stdout' }
                @{ Names = @('--name-as'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'name of each file, with {id}, {title}, {order}, {key}, {tag}, {feed}, {guid}, {date}, {ext}, and {dir} and {basename} of the audio''s path or URL; unknown values become the id' }
                @{ Names = @('--from'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'take ids from a file, one a line, or from stdin with -' }
                @{ Names = @('--jobs'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'how many at once' }
                @{ Names = @('--force'); Value = $false; Help = 'replace existing files' }
                @{ Names = @('--skip-existing'); Value = $false; Help = 'leave existing files as they are and go on' }
                @{ Names = @('--test'); Value = $false; Help = 'ask for a fake transcript' }
                @{ Names = @('--deprecated-path'); Value = $false; Help = 'use the old path of the API' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'sync' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--download'); Value = $true; List = $false; Kind = 'folder'; Offers = @(); About = @{}; Help = 'download each new transcript to this folder' }
                @{ Names = @('--format'); Value = $true; List = $true; Kind = ''; Offers = @('txt', 'doc', 'rtf', 'html', 'srt', 'docx', 'tstxt', 'vtt'); About = @{ 'txt' = 'Plain text'; 'doc' = 'Word 97 to 2003'; 'rtf' = 'Rich text'; 'html' = 'Web page'; 'srt' = 'SubRip subtitles'; 'docx' = 'Word'; 'tstxt' = 'Plain text with timestamps'; 'vtt' = 'WebVTT subtitles' }; Help = 'with --download, the document types' }
                @{ Names = @('--missing'); Value = $false; Help = 'with --download: also restore transcripts that are gone from the folder' }
                @{ Names = @('--since'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --missing: only files ordered or changed since then: 2026-11-01, or 7d ago' }
                @{ Names = @('--exec'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --download: run this for each new transcript, as listen --exec does' }
                @{ Names = @('--name-as'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --download, the name of each file, with {id}, {title}, {order}, {key}, {tag}, {feed}, {guid}, {date}, {ext}, and {dir} and {basename} of the audio''s path or URL; unknown values become the id' }
                @{ Names = @('--jobs'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'how many downloads, or commands of --exec, at once' }
                @{ Names = @('--exec-with-key'); Value = $false; Help = 'give the command of --exec the key too, as STENO_API_KEY' }
                @{ Names = @('--exec-timeout'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'end a command of --exec that takes longer' }
            )
            Arguments = @()
        }
        'upgrade' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--from'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'take ids from a file, one a line, or from stdin with -' }
                @{ Names = @('--sku'); Value = $true; List = $true; OnlyOneOf = @('UPGRD1', 'UPGRD2', 'UPGRD3'); Kind = ''; Offers = @('DIFFQ2', 'TSTMP1', 'CAPTION1', 'EDIT01', 'UPGRD1', 'UPGRD2', 'UPGRD3'); About = @{ 'DIFFQ2' = 'Difficult audio upgrade'; 'TSTMP1' = 'Timestamps'; 'CAPTION1' = 'Subtitles/captions'; 'EDIT01' = 'Extra editing'; 'UPGRD1' = 'Upgrade TRANS14 to TRANS6'; 'UPGRD2' = 'Upgrade TRANS14 to TRANS2'; 'UPGRD3' = 'Upgrade TRANS6 to TRANS2' }; Help = 'the upgrades' }
                @{ Names = @('--any-sku'); Value = $false; Help = 'accept SKUs that the API document does not list' }
                @{ Names = @('--yes', '-y'); Value = $false; Help = 'do not ask before several are upgraded' }
                @{ Names = @('--test'); Value = $false; Help = 'ask for a fake success; only for audiofiles 100 and 101' }
                @{ Names = @('--again'); Value = $false; Help = 'send it though an earlier try had no clear answer' }
                @{ Names = @('--unpriced'); Value = $false; Help = 'under a budget, allow an unknown cost' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'refund' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--from'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'take ids from a file, one a line, or from stdin with -' }
                @{ Names = @('--yes', '-y'); Value = $false; Help = 'do not ask' }
                @{ Names = @('--test'); Value = $false; Help = 'ask for a fake approval; only for audiofiles 100 and 101' }
                @{ Names = @('--again'); Value = $false; Help = 'send it though an earlier try had no clear answer' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'balance' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--min'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'exit with 1 if there is less than this' }
            )
            Arguments = @()
        }
        'invoice' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'invoice'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'budget' = @{
            Commands = @(
                @{ Names = @('set'); Path = 'budget set'; Help = 'Set the budget of everyone who uses this ledger' }
                @{ Names = @('unset'); Path = 'budget unset'; Help = 'Remove the budget of the ledger' }
            )
            Flags = @()
            Arguments = @()
        }
        'budget set' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{  }; Help = 'amount/period' }
            )
        }
        'budget unset' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'report' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--since'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'leave out what was spent or delivered before: 2026-01-01, or 90d ago' }
                @{ Names = @('--until'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'leave out what was spent or delivered after; a date is the end of that day' }
                @{ Names = @('--by'); Value = $true; List = $false; Kind = ''; Offers = @('month', 'sku', 'order', 'feed', 'tag'); About = @{  }; Help = 'show what was spent by this alone' }
                @{ Names = @('--html'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'write a page with charts, for a browser or a printer' }
                @{ Names = @('--force'); Value = $false; Help = 'with --html, replace a file that is no report' }
            )
            Arguments = @()
        }
        'log' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--since'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'only what was sent since then: 2026-11-01, or 30d ago' }
                @{ Names = @('--file'); Value = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; Help = 'only calls about this file' }
                @{ Names = @('--order'); Value = $true; List = $false; Kind = 'order'; Offers = @(); About = @{}; Help = 'only this order, and what was done with its files' }
                @{ Names = @('--limit'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'show at most this many' }
            )
            Arguments = @()
        }
        'listen' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--port'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'listen on this port; 0: any free one' }
                @{ Names = @('--register'); Value = $false; Help = 'set the account''s webhook to this listener, with a secret path, until it ends' }
                @{ Names = @('--public-url'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --register: this listener''s public URL; not needed if the service runs on this machine' }
                @{ Names = @('--tunnel'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'start this and take the https URL that it prints; fills in {url}, {port}' }
                @{ Names = @('--forward-to'); Value = $true; List = $true; Kind = ''; Offers = @(); About = @{  }; Help = 'forward each event to these, as received' }
                @{ Names = @('--exec'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'run this for each event: JSON on stdin, STENO_EVENT_* variables' }
                @{ Names = @('--download'); Value = $true; List = $false; Kind = 'folder'; Offers = @(); About = @{}; Help = 'download each transcript when it is complete' }
                @{ Names = @('--host'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'listen on this address' }
                @{ Names = @('--path'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'receive events at this path' }
                @{ Names = @('--tls-cert'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'serve https with this certificate (PEM), and --tls-key' }
                @{ Names = @('--tls-key'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'the key of the certificate in --tls-cert (PEM)' }
                @{ Names = @('--exec-with-key'); Value = $false; Help = 'give the command of --exec the key too, as STENO_API_KEY' }
                @{ Names = @('--exec-timeout'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'end a command of --exec that takes longer' }
                @{ Names = @('--jobs'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'how many commands of --exec run at once' }
                @{ Names = @('--format'); Value = $true; List = $true; Kind = ''; Offers = @('txt', 'doc', 'rtf', 'html', 'srt', 'docx', 'tstxt', 'vtt'); About = @{ 'txt' = 'Plain text'; 'doc' = 'Word 97 to 2003'; 'rtf' = 'Rich text'; 'html' = 'Web page'; 'srt' = 'SubRip subtitles'; 'docx' = 'Word'; 'tstxt' = 'Plain text with timestamps'; 'vtt' = 'WebVTT subtitles' }; Help = 'with --download, the document types' }
                @{ Names = @('--name-as'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'with --download, the name of each file, with {id}, {title}, {order}, {key}, {tag}, {feed}, {guid}, {date}, {ext}, and {dir} and {basename} of the audio''s path or URL; unknown values become the id' }
                @{ Names = @('--only'); Value = $true; List = $true; Kind = ''; Offers = @('TRANSCRIPT_COMPLETE', 'DUPLICATE_FILE', 'REFUND_ISSUED', 'CC_AUTH_FAILURE', 'DIFFICULT_AUDIO', 'ORDER_ON_HOLD'); About = @{ 'TRANSCRIPT_COMPLETE' = 'transcription of a file is complete'; 'DUPLICATE_FILE' = 'a file that was ordered before is detected'; 'REFUND_ISSUED' = 'money is refunded to the prepay balance'; 'CC_AUTH_FAILURE' = 'authorization of the account''s card failed'; 'DIFFICULT_AUDIO' = 'in some cases, a file is found to be difficult'; 'ORDER_ON_HOLD' = 'an order is accepted but held instead of started' }; Help = 'show and act on these events only; all are kept' }
                @{ Names = @('--any-event'); Value = $false; Help = 'accept event names that the API document does not list' }
                @{ Names = @('--until'); Value = $true; List = $false; Kind = ''; Offers = @('TRANSCRIPT_COMPLETE', 'DUPLICATE_FILE', 'REFUND_ISSUED', 'CC_AUTH_FAILURE', 'DIFFICULT_AUDIO', 'ORDER_ON_HOLD'); About = @{ 'TRANSCRIPT_COMPLETE' = 'transcription of a file is complete'; 'DUPLICATE_FILE' = 'a file that was ordered before is detected'; 'REFUND_ISSUED' = 'money is refunded to the prepay balance'; 'CC_AUTH_FAILURE' = 'authorization of the account''s card failed'; 'DIFFICULT_AUDIO' = 'in some cases, a file is found to be difficult'; 'ORDER_ON_HOLD' = 'an order is accepted but held instead of started' }; Help = 'end after this event' }
                @{ Names = @('--count'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'end after this many events' }
                @{ Names = @('--keep'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'remove events that are older, as ledger prune does' }
                @{ Names = @('--verbose'); Value = $false; Help = 'show every field of an event' }
            )
            Arguments = @()
        }
        'events' = @{
            Commands = @(
                @{ Names = @('show'); Path = 'events show'; Help = 'Show one event whole, and what was done about it' }
                @{ Names = @('replay'); Path = 'events replay'; Help = 'Send events once more, as they were received' }
            )
            Flags = @(
                @{ Names = @('--limit'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'show at most this many' }
                @{ Names = @('--event'); Value = $true; List = $true; Kind = ''; Offers = @('TRANSCRIPT_COMPLETE', 'DUPLICATE_FILE', 'REFUND_ISSUED', 'CC_AUTH_FAILURE', 'DIFFICULT_AUDIO', 'ORDER_ON_HOLD'); About = @{ 'TRANSCRIPT_COMPLETE' = 'transcription of a file is complete'; 'DUPLICATE_FILE' = 'a file that was ordered before is detected'; 'REFUND_ISSUED' = 'money is refunded to the prepay balance'; 'CC_AUTH_FAILURE' = 'authorization of the account''s card failed'; 'DIFFICULT_AUDIO' = 'in some cases, a file is found to be difficult'; 'ORDER_ON_HOLD' = 'an order is accepted but held instead of started' }; Help = 'only these events' }
                @{ Names = @('--file'); Value = $true; List = $false; Kind = 'audiofile'; Offers = @(); About = @{}; Help = 'only events about this file' }
                @{ Names = @('--order'); Value = $true; List = $false; Kind = 'order'; Offers = @(); About = @{}; Help = 'only events about this order' }
                @{ Names = @('--since'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'only events since then: 2026-11-01, or 3d ago' }
                @{ Names = @('--found'); Value = $false; Help = 'instead, events that never came, found by asking the service' }
                @{ Names = @('--follow'); Value = $false; Help = 'go on and print events as they arrive, until Ctrl-C' }
            )
            Arguments = @()
        }
        'events show' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = 'event'; Offers = @(); About = @{}; After = @{  }; Help = 'n' }
            )
        }
        'events replay' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--to'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'send them here' }
                @{ Names = @('--exec'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'run this for each: JSON on stdin, STENO_EVENT_* variables' }
                @{ Names = @('--exec-with-key'); Value = $false; Help = 'give the command of --exec the key too, as STENO_API_KEY' }
                @{ Names = @('--exec-timeout'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'end a command of --exec that takes longer' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'event'; Offers = @(); About = @{}; After = @{  }; Help = 'n' }
            )
        }
        'webhook' = @{
            Commands = @(
                @{ Names = @('get'); Path = 'webhook get'; Help = 'Show the URL that events are sent to' }
                @{ Names = @('set'); Path = 'webhook set'; Help = 'Set the URL that events are sent to' }
                @{ Names = @('test'); Path = 'webhook test'; Help = 'Ask for a test delivery of an event' }
            )
            Flags = @()
            Arguments = @()
        }
        'webhook get' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'webhook set' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{  }; Help = 'url' }
            )
        }
        'webhook test' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('TRANSCRIPT_COMPLETE', 'REFUND_ISSUED', 'DIFFICULT_AUDIO', 'ORDER_ON_HOLD'); About = @{ 'TRANSCRIPT_COMPLETE' = 'transcription of a file is complete'; 'REFUND_ISSUED' = 'money is refunded to the prepay balance'; 'DIFFICULT_AUDIO' = 'in some cases, a file is found to be difficult'; 'ORDER_ON_HOLD' = 'an order is accepted but held instead of started' }; After = @{  }; Help = 'TYPE' }
            )
        }
        'login' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--api-key-command'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'keep a command that prints the key, in place of the key' }
                @{ Names = @('--no-verify'); Value = $false; Help = 'keep it without asking the service' }
            )
            Arguments = @()
        }
        'logout' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'whoami' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'config' = @{
            Commands = @(
                @{ Names = @('list'); Path = 'config list'; Help = 'Show every setting and where it came from' }
                @{ Names = @('get'); Path = 'config get'; Help = 'Show one setting' }
                @{ Names = @('set'); Path = 'config set'; Help = 'Keep a setting in the profile' }
                @{ Names = @('unset'); Path = 'config unset'; Help = 'Remove a setting from the profile' }
                @{ Names = @('path'); Path = 'config path'; Help = 'Show where the settings are kept' }
            )
            Flags = @()
            Arguments = @()
        }
        'config list' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'config get' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('base-url', 'api-key', 'api-key-command', 'timeout', 'ledger', 'ledger-password-command', 'account', 'upload-command', 'budget', 'currency', 'price.TRANS14', 'price.TRANS2', 'price.TRANS6', 'price.TRANS7', 'price.EMSR02', 'price.DIFFQ2', 'price.TSTMP1', 'price.CAPTION1', 'price.VERBATIM1'); About = @{ 'base-url' = 'address of the service'; 'api-key' = 'key of the account'; 'api-key-command' = 'command that prints the key'; 'timeout' = 'how long a request may take'; 'ledger' = 'postgres:// URL of a ledger that a team shares'; 'ledger-password-command' = 'command that prints the password of the shared ledger'; 'account' = 'whose orders these are, in a shared ledger (default: the name of the profile)'; 'upload-command' = 'command that is given a path, uploads that file and prints its https URL, for order <file>'; 'budget' = 'how much may be spent in a day, week, month or year: 200/month'; 'currency' = 'currency of amounts that say none'; 'price.TRANS14' = 'price of a minute: Budget transcription, target of 14 days'; 'price.TRANS2' = 'price of a minute: 1-day expert transcription'; 'price.TRANS6' = 'price of a minute: 6-day transcription'; 'price.TRANS7' = 'price of a minute: 6-day transcription (the same as TRANS6)'; 'price.EMSR02' = 'price of a minute: Advanced machine transcription'; 'price.DIFFQ2' = 'price of a minute: Difficult audio'; 'price.TSTMP1' = 'price of a minute: Timestamps'; 'price.CAPTION1' = 'price of a minute: Captions/subtitles'; 'price.VERBATIM1' = 'price of a minute: Verbatim' }; After = @{  }; Help = 'setting' }
            )
        }
        'config set' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('base-url', 'api-key', 'api-key-command', 'timeout', 'ledger', 'ledger-password-command', 'account', 'upload-command', 'budget', 'currency', 'price.TRANS14', 'price.TRANS2', 'price.TRANS6', 'price.TRANS7', 'price.EMSR02', 'price.DIFFQ2', 'price.TSTMP1', 'price.CAPTION1', 'price.VERBATIM1'); About = @{ 'base-url' = 'address of the service'; 'api-key' = 'key of the account'; 'api-key-command' = 'command that prints the key'; 'timeout' = 'how long a request may take'; 'ledger' = 'postgres:// URL of a ledger that a team shares'; 'ledger-password-command' = 'command that prints the password of the shared ledger'; 'account' = 'whose orders these are, in a shared ledger (default: the name of the profile)'; 'upload-command' = 'command that is given a path, uploads that file and prints its https URL, for order <file>'; 'budget' = 'how much may be spent in a day, week, month or year: 200/month'; 'currency' = 'currency of amounts that say none'; 'price.TRANS14' = 'price of a minute: Budget transcription, target of 14 days'; 'price.TRANS2' = 'price of a minute: 1-day expert transcription'; 'price.TRANS6' = 'price of a minute: 6-day transcription'; 'price.TRANS7' = 'price of a minute: 6-day transcription (the same as TRANS6)'; 'price.EMSR02' = 'price of a minute: Advanced machine transcription'; 'price.DIFFQ2' = 'price of a minute: Difficult audio'; 'price.TSTMP1' = 'price of a minute: Timestamps'; 'price.CAPTION1' = 'price of a minute: Captions/subtitles'; 'price.VERBATIM1' = 'price of a minute: Verbatim' }; After = @{  }; Help = 'setting' }
                @{ Many = $false; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{ 'base-url' = @{ List = $false; Kind = 'base-url'; Offers = @(); About = @{}; After = @{}; Help = 'value' }; 'ledger' = @{ List = $false; Kind = 'ledger'; Offers = @(); About = @{}; After = @{}; Help = 'value' }; 'account' = @{ List = $false; Kind = 'account'; Offers = @(); About = @{}; After = @{}; Help = 'value' }; 'timeout' = @{ List = $false; Kind = ''; Offers = @('30s', '1m', '2m', '5m'); About = @{  }; After = @{}; Help = 'value' }; 'currency' = @{ List = $false; Kind = ''; Offers = @('USD', 'EUR', 'GBP'); About = @{  }; After = @{}; Help = 'value' } }; Help = 'value' }
            )
        }
        'config unset' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('base-url', 'api-key', 'api-key-command', 'timeout', 'ledger', 'ledger-password-command', 'account', 'upload-command', 'budget', 'currency', 'price.TRANS14', 'price.TRANS2', 'price.TRANS6', 'price.TRANS7', 'price.EMSR02', 'price.DIFFQ2', 'price.TSTMP1', 'price.CAPTION1', 'price.VERBATIM1'); About = @{ 'base-url' = 'address of the service'; 'api-key' = 'key of the account'; 'api-key-command' = 'command that prints the key'; 'timeout' = 'how long a request may take'; 'ledger' = 'postgres:// URL of a ledger that a team shares'; 'ledger-password-command' = 'command that prints the password of the shared ledger'; 'account' = 'whose orders these are, in a shared ledger (default: the name of the profile)'; 'upload-command' = 'command that is given a path, uploads that file and prints its https URL, for order <file>'; 'budget' = 'how much may be spent in a day, week, month or year: 200/month'; 'currency' = 'currency of amounts that say none'; 'price.TRANS14' = 'price of a minute: Budget transcription, target of 14 days'; 'price.TRANS2' = 'price of a minute: 1-day expert transcription'; 'price.TRANS6' = 'price of a minute: 6-day transcription'; 'price.TRANS7' = 'price of a minute: 6-day transcription (the same as TRANS6)'; 'price.EMSR02' = 'price of a minute: Advanced machine transcription'; 'price.DIFFQ2' = 'price of a minute: Difficult audio'; 'price.TSTMP1' = 'price of a minute: Timestamps'; 'price.CAPTION1' = 'price of a minute: Captions/subtitles'; 'price.VERBATIM1' = 'price of a minute: Verbatim' }; After = @{  }; Help = 'setting' }
            )
        }
        'config path' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'ledger' = @{
            Commands = @(
                @{ Names = @('status'); Path = 'ledger status'; Help = 'Say where the ledger is, and how it is' }
                @{ Names = @('export'); Path = 'ledger export'; Help = 'Write the ledger as JSON lines' }
                @{ Names = @('import'); Path = 'ledger import'; Help = 'Take an export into the ledger' }
                @{ Names = @('prune'); Path = 'ledger prune'; Help = 'Remove old events from the ledger' }
                @{ Names = @('copy'); Path = 'ledger copy'; Help = 'Copy the ledger to a shared one, or back' }
                @{ Names = @('migrate'); Path = 'ledger migrate'; Help = 'Bring the shared ledger up to date' }
                @{ Names = @('account'); Path = 'ledger account'; Help = 'Record which service and orders belong to an account' }
            )
            Flags = @()
            Arguments = @()
        }
        'ledger status' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'ledger export' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--output', '-o'); Value = $true; List = $false; Kind = 'file'; Offers = @(); About = @{}; Help = 'write it to this file, which only you can read' }
                @{ Names = @('--force'); Value = $false; Help = 'with --output, replace an existing file' }
                @{ Names = @('--all-profiles'); Value = $false; Help = 'of all profiles' }
                @{ Names = @('--damaged'); Value = $false; Help = 'read a damaged ledger as far as that goes; all profiles' }
            )
            Arguments = @()
        }
        'ledger import' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--as'); Value = $true; List = $false; Kind = 'account'; Offers = @(); About = @{}; Help = 'take the rows in as those of this profile or account' }
            )
            Arguments = @(
                @{ Many = $false; List = $false; Kind = 'file'; Offers = @(); About = @{}; After = @{  }; Help = 'file|-' }
            )
        }
        'ledger prune' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--before'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'older than this: 2026-11-01, or 90d ago' }
                @{ Names = @('--all-profiles'); Value = $false; Help = 'of all profiles' }
                @{ Names = @('--dry-run'); Value = $false; Help = 'say what would be removed, and remove nothing' }
                @{ Names = @('--yes', '-y'); Value = $false; Help = 'do not ask' }
            )
            Arguments = @()
        }
        'ledger copy' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--to'); Value = $true; List = $false; Kind = 'copy-target'; Offers = @(); About = @{}; Help = 'postgres:// URL of the shared ledger, without its password; or: local' }
                @{ Names = @('--dry-run'); Value = $false; Help = 'say what would be copied, and write nothing' }
                @{ Names = @('--without-shared'); Value = $false; Help = 'with --to local: the shared ledger is gone, copy nothing from it' }
                @{ Names = @('--yes', '-y'); Value = $false; Help = 'with --without-shared, do not ask' }
            )
            Arguments = @()
        }
        'ledger migrate' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'ledger account' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--separate-from'); Value = $true; List = $false; Kind = 'account'; Offers = @(); About = @{}; Help = 'an account or profile that is separate from this one' }
                @{ Names = @('--leave-local'); Value = $false; Help = 'the orders in this machine''s own ledger belong to another account' }
            )
            Arguments = @()
        }
        'doctor' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--offline'); Value = $false; Help = 'leave out what needs the network' }
                @{ Names = @('--test-event'); Value = $true; List = $false; Kind = ''; Offers = @('TRANSCRIPT_COMPLETE', 'REFUND_ISSUED', 'DIFFICULT_AUDIO', 'ORDER_ON_HOLD'); About = @{  }; Help = 'have the service send this, and wait until a listener here has it' }
            )
            Arguments = @()
        }
        'skus' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'states' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'formats' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'sandbox' = @{
            Commands = @(
                @{ Names = @('reset'); Path = 'sandbox reset'; Help = 'Forget all orders and start afresh' }
                @{ Names = @('release'); Path = 'sandbox release'; Help = 'End the hold of an order, which then goes on' }
                @{ Names = @('advance'); Path = 'sandbox advance'; Help = 'Move files to their next state at once, or move the clock' }
            )
            Flags = @(
                @{ Names = @('--port'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'listen here; 0: any free port' }
                @{ Names = @('--host'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'listen on this address' }
                @{ Names = @('--speed'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'how fast files advance: 1 takes 5 s, 2 half of that, 0 waits for advance' }
                @{ Names = @('--ephemeral'); Value = $false; Help = 'keep nothing, and share nothing with --sandbox' }
                @{ Names = @('--fault'); Value = $true; List = $true; Kind = ''; Offers = @(); About = @{  }; Help = 'make calls fail: 503=0.1, reset=0.05, truncate=0.02, slow=2s' }
            )
            Arguments = @()
        }
        'sandbox reset' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'sandbox release' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = 'sandbox-held-order'; Offers = @(); About = @{}; After = @{  }; Help = 'order' }
            )
        }
        'sandbox advance' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--by'); Value = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; Help = 'move the clock by this, such as 7d or 12h; it is never moved back' }
            )
            Arguments = @(
                @{ Many = $true; List = $false; Kind = 'sandbox-audiofile'; Offers = @(); About = @{}; After = @{  }; Help = 'id' }
            )
        }
        'api' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--again'); Value = $false; Help = 'send an order, upgrade or refund though the ledger has the same already' }
                @{ Names = @('--unpriced'); Value = $false; Help = 'under a budget, allow an unknown cost' }
            )
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'); About = @{  }; After = @{  }; Help = 'METHOD' }
                @{ Many = $false; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{  }; Help = 'path' }
                @{ Many = $true; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{  }; Help = 'key=value' }
            )
        }
        'commands' = @{
            Commands = @()
            Flags = @()
            Arguments = @()
        }
        'schema' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--dry-run'); Value = $false; Help = 'of order --dry-run' }
            )
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('order', 'attempts', 'ignore', 'files', 'file', 'track', 'wait', 'transcript', 'sync', 'upgrade', 'refund', 'balance', 'invoice', 'budget', 'report', 'log', 'listen', 'events', 'webhook', 'login', 'logout', 'whoami', 'config', 'ledger', 'doctor', 'skus', 'states', 'formats', 'sandbox', 'api', 'commands', 'schema', 'completion', 'error', 'warning'); About = @{ 'order' = 'Order transcription of audio at one or more URLs'; 'attempts' = 'List purchases whose outcome is not known'; 'ignore' = 'Leave audio out of lists, feeds and folders'; 'files' = 'List what the ledger knows of your orders and files'; 'file' = 'Show the details and the state of files'; 'track' = 'Take files into the ledger that were ordered elsewhere'; 'wait' = 'Wait until files are delivered'; 'transcript' = 'Download transcripts'; 'sync' = 'Refresh every open file and download what is new'; 'upgrade' = 'Upgrade files'; 'refund' = 'Refund files on which no work has been done'; 'balance' = 'Show the prepay balance in USD'; 'invoice' = 'Show invoices with their items and totals'; 'budget' = 'Show the budget, what was bought under it, and what is left'; 'report' = 'Show what was spent, how long it took, and what is late'; 'log' = 'Show who ordered, upgraded or refunded what, and what it cost'; 'listen' = 'Receive events, keep them, and act on them'; 'events' = 'List what listen has received'; 'webhook' = 'Read, set and test the account''s webhook'; 'login' = 'Keep the key of your account'; 'logout' = 'Forget the key of a profile'; 'whoami' = 'Show the key (masked) and where each setting came from'; 'config' = 'Read and change the settings of a profile'; 'ledger' = 'Look after the ledger: back up, move, share, clean'; 'doctor' = 'Check the set-up line by line, and say what to do'; 'skus' = 'List the SKUs that can be ordered and upgraded'; 'states' = 'List the states of files and invoices'; 'formats' = 'List the formats of transcripts'; 'sandbox' = 'Serve the whole API on this machine: no account, no cost'; 'api' = 'Make a raw call, with the key added'; 'commands' = 'List every command, for programs'; 'schema' = 'Print the JSON schema of what a command prints'; 'completion' = 'Install or print the completion script of a shell'; 'error' = 'what stderr has with --json: error'; 'warning' = 'what stderr has with --json: warning' }; After = @{  }; Help = 'command' }
                @{ Many = $false; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{ 'attempts' = @{ List = $false; Kind = ''; Offers = @('settle'); About = @{  }; After = @{}; Help = 'subcommand' }; 'budget' = @{ List = $false; Kind = ''; Offers = @('set', 'unset'); About = @{  }; After = @{}; Help = 'subcommand' }; 'events' = @{ List = $false; Kind = ''; Offers = @('show', 'replay'); About = @{  }; After = @{}; Help = 'subcommand' }; 'webhook' = @{ List = $false; Kind = ''; Offers = @('get', 'set', 'test'); About = @{  }; After = @{}; Help = 'subcommand' }; 'config' = @{ List = $false; Kind = ''; Offers = @('list', 'get', 'set', 'unset', 'path'); About = @{  }; After = @{}; Help = 'subcommand' }; 'ledger' = @{ List = $false; Kind = ''; Offers = @('status', 'export', 'import', 'prune', 'copy', 'migrate', 'account'); About = @{  }; After = @{}; Help = 'subcommand' }; 'sandbox' = @{ List = $false; Kind = ''; Offers = @('reset', 'release', 'advance'); About = @{  }; After = @{}; Help = 'subcommand' }; 'completion' = @{ List = $false; Kind = ''; Offers = @('install', 'uninstall'); About = @{  }; After = @{}; Help = 'subcommand' } }; Help = 'subcommand' }
            )
        }
        'completion' = @{
            Commands = @(
                @{ Names = @('install'); Path = 'completion install'; Help = 'Put the completion script where your shell finds it' }
                @{ Names = @('uninstall'); Path = 'completion uninstall'; Help = 'Undo what completion install has done' }
            )
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('bash', 'zsh', 'fish', 'powershell'); About = @{ 'bash' = 'print its script'; 'zsh' = 'print its script'; 'fish' = 'print its script'; 'powershell' = 'print its script' }; After = @{  }; Help = 'shell' }
            )
        }
        'completion install' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--dry-run'); Value = $false; Help = 'show what would be written and where; write nothing' }
            )
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('bash', 'zsh', 'fish', 'powershell'); About = @{  }; After = @{  }; Help = 'shell' }
            )
        }
        'completion uninstall' = @{
            Commands = @()
            Flags = @(
                @{ Names = @('--dry-run'); Value = $false; Help = 'show what would be removed; remove nothing' }
            )
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('bash', 'zsh', 'fish', 'powershell'); About = @{  }; After = @{  }; Help = 'shell' }
            )
        }
        'help' = @{
            Commands = @()
            Flags = @()
            Arguments = @(
                @{ Many = $false; List = $false; Kind = ''; Offers = @('order', 'attempts', 'ignore', 'files', 'file', 'track', 'wait', 'transcript', 'sync', 'upgrade', 'refund', 'balance', 'invoice', 'budget', 'report', 'log', 'listen', 'events', 'webhook', 'login', 'logout', 'whoami', 'config', 'ledger', 'doctor', 'skus', 'states', 'formats', 'sandbox', 'api', 'commands', 'schema', 'completion', 'options', 'exit-codes', 'environment', 'output', 'json', 'money', 'ledger-care', 'shared-ledger', 'service', 'security', 'topics'); About = @{ 'order' = 'Order transcription of audio at one or more URLs'; 'attempts' = 'List purchases whose outcome is not known'; 'ignore' = 'Leave audio out of lists, feeds and folders'; 'files' = 'List what the ledger knows of your orders and files'; 'file' = 'Show the details and the state of files'; 'track' = 'Take files into the ledger that were ordered elsewhere'; 'wait' = 'Wait until files are delivered'; 'transcript' = 'Download transcripts'; 'sync' = 'Refresh every open file and download what is new'; 'upgrade' = 'Upgrade files'; 'refund' = 'Refund files on which no work has been done'; 'balance' = 'Show the prepay balance in USD'; 'invoice' = 'Show invoices with their items and totals'; 'budget' = 'Show the budget, what was bought under it, and what is left'; 'report' = 'Show what was spent, how long it took, and what is late'; 'log' = 'Show who ordered, upgraded or refunded what, and what it cost'; 'listen' = 'Receive events, keep them, and act on them'; 'events' = 'List what listen has received'; 'webhook' = 'Read, set and test the account''s webhook'; 'login' = 'Keep the key of your account'; 'logout' = 'Forget the key of a profile'; 'whoami' = 'Show the key (masked) and where each setting came from'; 'config' = 'Read and change the settings of a profile'; 'ledger' = 'Look after the ledger: back up, move, share, clean'; 'doctor' = 'Check the set-up line by line, and say what to do'; 'skus' = 'List the SKUs that can be ordered and upgraded'; 'states' = 'List the states of files and invoices'; 'formats' = 'List the formats of transcripts'; 'sandbox' = 'Serve the whole API on this machine: no account, no cost'; 'api' = 'Make a raw call, with the key added'; 'commands' = 'List every command, for programs'; 'schema' = 'Print the JSON schema of what a command prints'; 'completion' = 'Install or print the completion script of a shell'; 'options' = 'options that every command takes'; 'exit-codes' = 'what each exit code means'; 'environment' = 'environment variables and settings'; 'output' = 'tables, rows for scripts, errors and hints'; 'json' = 'what --json prints, and its names'; 'money' = 'what costs money, and how it is paid once'; 'ledger-care' = 'back up, move and rescue the ledger'; 'shared-ledger' = 'one ledger for a team and CI: rights, outages, failover'; 'service' = 'listen with systemd or in a container; its limits and failures'; 'security' = 'the key, the mask, unknown clients and privacy'; 'topics' = 'every topic of help' }; After = @{  }; Help = 'command' }
                @{ Many = $false; List = $false; Kind = ''; Offers = @(); About = @{  }; After = @{ 'attempts' = @{ List = $false; Kind = ''; Offers = @('settle'); About = @{  }; After = @{}; Help = 'subcommand' }; 'budget' = @{ List = $false; Kind = ''; Offers = @('set', 'unset'); About = @{  }; After = @{}; Help = 'subcommand' }; 'events' = @{ List = $false; Kind = ''; Offers = @('show', 'replay'); About = @{  }; After = @{}; Help = 'subcommand' }; 'webhook' = @{ List = $false; Kind = ''; Offers = @('get', 'set', 'test'); About = @{  }; After = @{}; Help = 'subcommand' }; 'config' = @{ List = $false; Kind = ''; Offers = @('list', 'get', 'set', 'unset', 'path'); About = @{  }; After = @{}; Help = 'subcommand' }; 'ledger' = @{ List = $false; Kind = ''; Offers = @('status', 'export', 'import', 'prune', 'copy', 'migrate', 'account'); About = @{  }; After = @{}; Help = 'subcommand' }; 'sandbox' = @{ List = $false; Kind = ''; Offers = @('reset', 'release', 'advance'); About = @{  }; After = @{}; Help = 'subcommand' }; 'completion' = @{ List = $false; Kind = ''; Offers = @('install', 'uninstall'); About = @{  }; After = @{}; Help = 'subcommand' } }; Help = 'subcommand' }
            )
        }
    }

    # The words before the cursor, and the one at it.
    $text = $commandAst.Extent.Text
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    if ($length -gt $text.Length) { $text += ' ' } else { $text = $text.Substring(0, $length) }
    $words = @([regex]::Matches($text, '(?:''[^'']*(?:''|$)|"[^"]*(?:"|$)|[^\s''"])+') |
        ForEach-Object { $_.Value -replace '[''"]', '' })
    $current = ''
    if ($text -notmatch '\s$') {
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
                    $id, $what = $line -split "`t", 2
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
        if ($value -notmatch '^[\w./-]+$') { $value = "'" + ($value -replace "'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($before + $value, $each.Text, 'ParameterValue', $shown)
    }
}
