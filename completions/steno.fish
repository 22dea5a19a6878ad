# Completion of steno for fish, generated from the program: changes made here are lost.

# Prints the command at the cursor, the number of arguments before it, the profile, and the last of those arguments.
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
            case '*:--profile' '*:--base-url' '*:--api-key' '*:--timeout' 'order:--sku' 'order:--from' 'order:--feed' 'order:--download' 'order:--latest' 'order:--since' 'order:--match' 'order:--per-order' 'order:--notes' 'order:--notes-file' 'order:--name' 'order:--key' 'order:--max-cost' 'order:--interval' 'order:--format' 'order:--name-as' 'order:--param' 'attempts settle:--placed' 'attempts settle:--file' 'files:--state' 'files:--since' 'files:--order' 'files:--limit' 'file:--interval' 'track:--from' 'wait:--order' 'wait:--interval' 'wait:--download' 'wait:--format' 'wait:--name-as' 'transcript:--format' 'transcript:--output' 'transcript:-o' 'transcript:--name-as' 'transcript:--from' 'transcript:--jobs' 'sync:--download' 'sync:--format' 'sync:--name-as' 'sync:--jobs' 'upgrade:--sku' 'balance:--min' 'report:--since' 'report:--by' 'report:--html' 'listen:--port' 'listen:--public-url' 'listen:--tunnel' 'listen:--forward-to' 'listen:--exec' 'listen:--download' 'listen:--host' 'listen:--path' 'listen:--tls-cert' 'listen:--tls-key' 'listen:--exec-timeout' 'listen:--jobs' 'listen:--format' 'listen:--name-as' 'listen:--only' 'listen:--until' 'listen:--count' 'listen:--keep' 'events:--limit' 'events:--event' 'events:--file' 'events:--order' 'events:--since' 'events replay:--to' 'events replay:--exec' 'events replay:--exec-timeout' 'login:--api-key-command' 'ledger export:--output' 'ledger export:-o' 'ledger import:--as' 'ledger prune:--before' 'ledger copy:--to' 'doctor:--test-event' 'sandbox:--port' 'sandbox:--host' 'sandbox:--speed' 'sandbox:--fault'
                set flag $token
            end
            continue
        end
        # After an argument, a word is never a subcommand.
        switch "$count:$path:$token"
        case '0::order'
            set path 'order'
        case '0::attempts'
            set path 'attempts'
        case '0::files' '0::ls'
            set path 'files'
        case '0::file'
            set path 'file'
        case '0::track'
            set path 'track'
        case '0::wait'
            set path 'wait'
        case '0::transcript'
            set path 'transcript'
        case '0::sync'
            set path 'sync'
        case '0::upgrade'
            set path 'upgrade'
        case '0::refund'
            set path 'refund'
        case '0::balance'
            set path 'balance'
        case '0::invoice'
            set path 'invoice'
        case '0::report'
            set path 'report'
        case '0::listen'
            set path 'listen'
        case '0::events'
            set path 'events'
        case '0::webhook'
            set path 'webhook'
        case '0::login'
            set path 'login'
        case '0::logout'
            set path 'logout'
        case '0::whoami'
            set path 'whoami'
        case '0::config'
            set path 'config'
        case '0::ledger'
            set path 'ledger'
        case '0::doctor'
            set path 'doctor'
        case '0::skus'
            set path 'skus'
        case '0::states'
            set path 'states'
        case '0::formats'
            set path 'formats'
        case '0::sandbox'
            set path 'sandbox'
        case '0::api'
            set path 'api'
        case '0::completion'
            set path 'completion'
        case '0::help'
            set path 'help'
        case '0:attempts:settle'
            set path 'attempts settle'
        case '0:events:show'
            set path 'events show'
        case '0:events:replay'
            set path 'events replay'
        case '0:webhook:get'
            set path 'webhook get'
        case '0:webhook:set'
            set path 'webhook set'
        case '0:webhook:test'
            set path 'webhook test'
        case '0:config:list'
            set path 'config list'
        case '0:config:get'
            set path 'config get'
        case '0:config:set'
            set path 'config set'
        case '0:config:unset'
            set path 'config unset'
        case '0:config:path'
            set path 'config path'
        case '0:ledger:status'
            set path 'ledger status'
        case '0:ledger:export'
            set path 'ledger export'
        case '0:ledger:import'
            set path 'ledger import'
        case '0:ledger:prune'
            set path 'ledger prune'
        case '0:ledger:copy'
            set path 'ledger copy'
        case '0:ledger:migrate'
            set path 'ledger migrate'
        case '0:ledger:account'
            set path 'ledger account'
        case '0:sandbox:reset'
            set path 'sandbox reset'
        case '0:sandbox:release'
            set path 'sandbox release'
        case '0:sandbox:advance'
            set path 'sandbox advance'
        case '*'
            set count (math $count + 1)
            set last $token
        end
    end
    test -n "$sandbox"; and set profile sandbox
    printf '%s\n' "$path" $count "$profile" "$last"
end

function __steno_at
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
    set -l plain (string unescape -- "$token"); or set plain (string replace -ra -- '["\']' '' "$token")
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
        contains -- (string split -f 1 -- \t $offered) $used; or printf '%s\n' "$given$offered"
    end
end

# Ids from the ledger, each with its description.
function __steno_ids
    set -l typed (__steno_typed | string replace -r -- '^.*,' '')
    command -q steno; and not string match -q -- '-*' "$typed"; or return 0
    set -lx STENO_PROFILE (__steno_where)[3]
    set -l found (command steno __complete $argv[1] "$typed" 2>/dev/null </dev/null)
    and test -n "$found"; and printf '%s\n' $found
end

complete -c steno -f
complete -c steno -n '__steno_at "" 0' -a 'order' -d 'Order transcription of audio at one or more URLs'
complete -c steno -n '__steno_at "" 0' -a 'attempts' -d 'List orders whose outcome is not known'
complete -c steno -n '__steno_at "" 0' -a 'files' -d 'List what the ledger knows of your orders and files'
complete -c steno -n '__steno_at "" 0' -a 'ls' -d 'List what the ledger knows of your orders and files'
complete -c steno -n '__steno_at "" 0' -a 'file' -d 'Show the details and the state of files'
complete -c steno -n '__steno_at "" 0' -a 'track' -d 'Take files into the ledger that were ordered elsewhere'
complete -c steno -n '__steno_at "" 0' -a 'wait' -d 'Wait until files are delivered'
complete -c steno -n '__steno_at "" 0' -a 'transcript' -d 'Download transcripts'
complete -c steno -n '__steno_at "" 0' -a 'sync' -d 'Refresh every open file and download what is new'
complete -c steno -n '__steno_at "" 0' -a 'upgrade' -d 'Upgrade a file'
complete -c steno -n '__steno_at "" 0' -a 'refund' -d 'Refund a file on which no work has been done'
complete -c steno -n '__steno_at "" 0' -a 'balance' -d 'Show the prepay balance in USD'
complete -c steno -n '__steno_at "" 0' -a 'invoice' -d 'Show invoices with their items and totals'
complete -c steno -n '__steno_at "" 0' -a 'report' -d 'Show what was spent, how long it took, and what is late'
complete -c steno -n '__steno_at "" 0' -a 'listen' -d 'Receive events, keep them, and act on them'
complete -c steno -n '__steno_at "" 0' -a 'events' -d 'List what listen has received'
complete -c steno -n '__steno_at "" 0' -a 'webhook' -d 'Read, set and test the account\'s webhook'
complete -c steno -n '__steno_at "" 0' -a 'login' -d 'Keep the key of your account'
complete -c steno -n '__steno_at "" 0' -a 'logout' -d 'Forget the key of a profile'
complete -c steno -n '__steno_at "" 0' -a 'whoami' -d 'Show the key (masked) and where each setting came from'
complete -c steno -n '__steno_at "" 0' -a 'config' -d 'Read and change the settings of a profile'
complete -c steno -n '__steno_at "" 0' -a 'ledger' -d 'Look after the ledger: back up, move, share, clean'
complete -c steno -n '__steno_at "" 0' -a 'doctor' -d 'Check the set-up line by line, and say what to do'
complete -c steno -n '__steno_at "" 0' -a 'skus' -d 'List the SKUs that can be ordered and upgraded'
complete -c steno -n '__steno_at "" 0' -a 'states' -d 'List the states of files and invoices'
complete -c steno -n '__steno_at "" 0' -a 'formats' -d 'List the formats of transcripts'
complete -c steno -n '__steno_at "" 0' -a 'sandbox' -d 'Serve the whole API on this machine: no account, no cost'
complete -c steno -n '__steno_at "" 0' -a 'api' -d 'Make a raw call, with the key added'
complete -c steno -n '__steno_at "" 0' -a 'completion' -d 'Print the completion script of a shell'
complete -c steno -n '__steno_at "" 0' -a 'help' -d 'Explain a command or a topic'
complete -c steno -n '__steno_at attempts 0' -a 'settle' -d 'Say what became of an order without a known end'
complete -c steno -n '__steno_at events 0' -a 'show' -d 'Show one event whole, and what was done about it'
complete -c steno -n '__steno_at events 0' -a 'replay' -d 'Send events once more, as they were received'
complete -c steno -n '__steno_at webhook 0' -a 'get' -d 'Show the URL that events are sent to'
complete -c steno -n '__steno_at webhook 0' -a 'set' -d 'Set the URL that events are sent to'
complete -c steno -n '__steno_at webhook 0' -a 'test' -d 'Ask for a test delivery of an event'
complete -c steno -n '__steno_at config 0' -a 'list' -d 'Show every setting and where it came from'
complete -c steno -n '__steno_at config 0' -a 'get' -d 'Show one setting'
complete -c steno -n '__steno_at config 0' -a 'set' -d 'Keep a setting in the profile'
complete -c steno -n '__steno_at config 0' -a 'unset' -d 'Remove a setting from the profile'
complete -c steno -n '__steno_at config 0' -a 'path' -d 'Show where the settings are kept'
complete -c steno -n '__steno_at ledger 0' -a 'status' -d 'Say where the ledger is, and how it is'
complete -c steno -n '__steno_at ledger 0' -a 'export' -d 'Write the ledger as JSON lines'
complete -c steno -n '__steno_at ledger 0' -a 'import' -d 'Take an export into the ledger'
complete -c steno -n '__steno_at ledger 0' -a 'prune' -d 'Remove old events from the ledger'
complete -c steno -n '__steno_at ledger 0' -a 'copy' -d 'Copy the ledger to a shared one, or back'
complete -c steno -n '__steno_at ledger 0' -a 'migrate' -d 'Bring the shared ledger up to date'
complete -c steno -n '__steno_at ledger 0' -a 'account' -d 'Change the base URL of an account in the shared ledger'
complete -c steno -n '__steno_at sandbox 0' -a 'reset' -d 'Forget all orders and start afresh'
complete -c steno -n '__steno_at sandbox 0' -a 'release' -d 'End the hold of an order, which then goes on'
complete -c steno -n '__steno_at sandbox 0' -a 'advance' -d 'Move files to their next state at once'
complete -c steno -l profile -x -a '(__steno_ids profile)' -d 'use the settings of this profile'
complete -c steno -l base-url -x -a '(__steno_ids base-url)' -d 'address of the service, ending in /API4'
complete -c steno -l api-key -x -d 'key of the account; better kept by login or in the environment'
complete -c steno -l sandbox -d 'use the service inside steno: no account, no network, no cost'
complete -c steno -l json -d 'print one JSON document, with every field as the service sent it'
complete -c steno -l csv -d 'print CSV rows with a header line'
complete -c steno -l quiet -d 'print only what a script needs next'
complete -c steno -l no-color -d 'print without colour'
complete -c steno -l no-progress -d 'no line that moves: on a terminal a plain line every ten seconds, or none with --quiet'
complete -c steno -l no-pager -d 'print long lists at once, not in a pager'
complete -c steno -l debug -d 'show on stderr what is sent and received, and the stack of an error'
complete -c steno -l timeout -x -d 'give up after this long'
complete -c steno -l no-ledger -d 'neither read nor write the ledger of your orders'
complete -c steno -l help -s h -d 'explain this command'
complete -c steno -l version -s V -d 'print the version'
complete -c steno -n '__steno_at order' -l sku -x -a '(printf "%s\\n" TRANS14\\t"Budget transcription, target of 14 days" TRANS2\\t"1-day expert transcription" TRANS6\\t"6-day transcription" TRANS7\\t"6-day transcription" EMSR02\\t"Advanced machine transcription" DIFFQ2\\t"Difficult audio" TSTMP1\\tTimestamps CAPTION1\\tCaptions/subtitles VERBATIM1\\tVerbatim | __steno_list --sku TRANS14 TRANS2 TRANS6 TRANS7 EMSR02)' -d 'a transcription and add-ons'
complete -c steno -n '__steno_at order' -l from -r -F -d 'take the URLs from a manifest, or from stdin with -'
complete -c steno -n '__steno_at order' -l feed -r -F -d 'order episodes of a podcast feed (RSS or Atom)'
complete -c steno -n '__steno_at order' -l dry-run -d 'show the orders and what they would cost; send nothing'
complete -c steno -n '__steno_at order' -l wait -d 'wait until the files are delivered'
complete -c steno -n '__steno_at order' -l download -x -a '(__fish_complete_directories (__steno_typed))' -d 'wait, and download the transcripts to this folder'
complete -c steno -n '__steno_at order' -l skip-ordered -d 'leave out URLs that are on order already'
complete -c steno -n '__steno_at order' -l latest -x -d 'with --feed, the newest n episodes'
complete -c steno -n '__steno_at order' -l since -x -d 'with --feed, episodes from then on: 2026-05-01, or 7d ago'
complete -c steno -n '__steno_at order' -l match -x -d 'with --feed, episodes whose title has it'
complete -c steno -n '__steno_at order' -l per-order -x -d 'how many URLs go into one order'
complete -c steno -n '__steno_at order' -l notes -x -d 'comments for the transcribers'
complete -c steno -n '__steno_at order' -l notes-file -r -F -d 'take the comments from a file, or from stdin with -'
complete -c steno -n '__steno_at order' -l name -x -d 'a speaker\'s name; repeat it for each'
complete -c steno -n '__steno_at order' -l key -x -d 'what tells this audio from others, in place of its URL'
complete -c steno -n '__steno_at order' -l test -d 'place a test order, which is not transcribed'
complete -c steno -n '__steno_at order' -l max-cost -x -d 'order nothing if it would cost more, or if that is not known'
complete -c steno -n '__steno_at order' -l unpriced -d 'under a budget, order also what has no known price'
complete -c steno -n '__steno_at order' -l interval -x -d 'with --wait or --download, the time between two polls'
complete -c steno -n '__steno_at order' -l format -x -a '(printf "%s\\n" txt\\t"Plain text" doc\\t"Word 97 to 2003" rtf\\t"Rich text" html\\t"Web page" srt\\t"SubRip subtitles" docx\\tWord tstxt\\t"Plain text with timestamps" vtt\\t"WebVTT subtitles" | __steno_list --format)' -d 'with --download, the document types'
complete -c steno -n '__steno_at order' -l name-as -x -d 'with --download, the name of each file, with {id}, {title}, {order}, {guid}, {date} and {ext}; what is not known is the id'
complete -c steno -n '__steno_at order' -l fail-on-hold -d 'exit with 5 if the order is put on hold'
complete -c steno -n '__steno_at order' -l retry-unclear -d 'with --skip-ordered: order again what had no clear answer'
complete -c steno -n '__steno_at order' -l again -d 'order again what is on order already'
complete -c steno -n '__steno_at order' -l any-sku -d 'accept SKUs that the API document does not list'
complete -c steno -n '__steno_at order' -l param -x -d 'send one more parameter as it is; repeat it for each'
complete -c steno -n '__steno_at order' -F
complete -c steno -n '__steno_at "attempts settle"' -l placed -x -a '(__steno_ids order)' -d 'it went through, as this order'
complete -c steno -n '__steno_at "attempts settle"' -l file -x -a '(printf "%s\\n"  | __steno_list --file)' -d 'with --placed, the audiofiles of the order'
complete -c steno -n '__steno_at "attempts settle"' -l not-placed -d 'it did not go through'
complete -c steno -n '__steno_at "attempts settle" 0' -x -a '(__steno_ids attempt)'
complete -c steno -n '__steno_at files' -l state -x -a '(printf "%s\\n" "Audio Processing"\\t"under way" "Awaiting Edit"\\t"under way" "Awaiting Final Approval"\\t"under way" "Billing Processing"\\t"under way" "Checking Audio Quality"\\t"under way" Delivered\\t"the transcript is there" "Editing to Word Count"\\t"under way" Error\\t"no transcript comes" "On Hold"\\t"waits for a release" "Order Cancelled"\\t"no transcript comes" "Order Chargeable"\\t"under way" "Order Processing"\\t"under way" "Out for edit"\\t"under way" Pre-Processing\\t"under way" Processing\\t"under way" Refunded\\t"no transcript comes" "Technical Difficulty"\\t"under way" "Temporary Error"\\t"under way" Transcribing\\t"under way" | __steno_list --state)' -d 'only files in these states'
complete -c steno -n '__steno_at files' -l since -x -d 'only files ordered since then: 2026-11-01, or 3d ago'
complete -c steno -n '__steno_at files' -l order -x -a '(__steno_ids order)' -d 'only files of this order'
complete -c steno -n '__steno_at files' -l refresh -d 'ask the service about every open file first'
complete -c steno -n '__steno_at files' -l limit -x -d 'show at most this many'
complete -c steno -n '__steno_at file' -l watch -d 'go on and print each change of state'
complete -c steno -n '__steno_at file' -l interval -x -d 'with --watch, how often to ask'
complete -c steno -n '__steno_at file' -x -a '(__steno_ids audiofile)'
complete -c steno -n '__steno_at track' -l from -r -F -d 'take ids from a file, one a line, or from stdin with -'
complete -c steno -n '__steno_at wait' -l order -x -a '(__steno_ids order)' -d 'wait for the files of this order'
complete -c steno -n '__steno_at wait' -l interval -x -d 'time between two polls'
complete -c steno -n '__steno_at wait' -l download -x -a '(__fish_complete_directories (__steno_typed))' -d 'download each transcript as it is delivered'
complete -c steno -n '__steno_at wait' -l format -x -a '(printf "%s\\n" txt\\t"Plain text" doc\\t"Word 97 to 2003" rtf\\t"Rich text" html\\t"Web page" srt\\t"SubRip subtitles" docx\\tWord tstxt\\t"Plain text with timestamps" vtt\\t"WebVTT subtitles" | __steno_list --format)' -d 'with --download, the document types'
complete -c steno -n '__steno_at wait' -l name-as -x -d 'with --download, the name of each file, with {id}, {title}, {order}, {guid}, {date} and {ext}; what is not known is the id'
complete -c steno -n '__steno_at wait' -x -a '(__steno_ids audiofile)'
complete -c steno -n '__steno_at transcript' -l format -x -a '(printf "%s\\n" txt\\t"Plain text" doc\\t"Word 97 to 2003" rtf\\t"Rich text" html\\t"Web page" srt\\t"SubRip subtitles" docx\\tWord tstxt\\t"Plain text with timestamps" vtt\\t"WebVTT subtitles" | __steno_list --format)' -d 'document types'
complete -c steno -n '__steno_at transcript' -l output -s o -r -F -d 'where to: a file, a folder, or - for stdout'
complete -c steno -n '__steno_at transcript' -l name-as -x -d 'name of each file, with {id}, {title}, {order}, {guid}, {date} and {ext}; what is not known is the id'
complete -c steno -n '__steno_at transcript' -l from -r -F -d 'take ids from a file, one a line, or from stdin with -'
complete -c steno -n '__steno_at transcript' -l jobs -x -d 'how many at once'
complete -c steno -n '__steno_at transcript' -l force -d 'replace existing files'
complete -c steno -n '__steno_at transcript' -l skip-existing -d 'leave existing files as they are and go on'
complete -c steno -n '__steno_at transcript' -l test -d 'ask for a fake transcript'
complete -c steno -n '__steno_at transcript' -l deprecated-path -d 'use the old path of the API'
complete -c steno -n '__steno_at transcript' -x -a '(__steno_ids audiofile)'
complete -c steno -n '__steno_at sync' -l download -x -a '(__fish_complete_directories (__steno_typed))' -d 'where transcripts go'
complete -c steno -n '__steno_at sync' -l format -x -a '(printf "%s\\n" txt\\t"Plain text" doc\\t"Word 97 to 2003" rtf\\t"Rich text" html\\t"Web page" srt\\t"SubRip subtitles" docx\\tWord tstxt\\t"Plain text with timestamps" vtt\\t"WebVTT subtitles" | __steno_list --format)' -d 'document types'
complete -c steno -n '__steno_at sync' -l name-as -x -d 'name of each file, with {id}, {title}, {order}, {guid}, {date} and {ext}; what is not known is the id'
complete -c steno -n '__steno_at sync' -l jobs -x -d 'how many at once'
complete -c steno -n '__steno_at upgrade' -l sku -x -a '(printf "%s\\n" DIFFQ2\\t"Difficult audio upgrade" TSTMP1\\tTimestamps CAPTION1\\tSubtitles/captions EDIT01\\t"Extra editing" UPGRD1\\t"Upgrade TRANS14 to TRANS6" UPGRD2\\t"Upgrade TRANS14 to TRANS2" UPGRD3\\t"Upgrade TRANS6 to TRANS2" | __steno_list --sku UPGRD1 UPGRD2 UPGRD3)' -d 'the upgrades'
complete -c steno -n '__steno_at upgrade' -l any-sku -d 'accept SKUs that the API document does not list'
complete -c steno -n '__steno_at upgrade' -l test -d 'ask for a fake success; only for audiofiles 100 and 101'
complete -c steno -n '__steno_at upgrade 0' -x -a '(__steno_ids audiofile)'
complete -c steno -n '__steno_at refund' -l yes -s y -d 'do not ask'
complete -c steno -n '__steno_at refund' -l test -d 'ask for a fake approval; only for audiofiles 100 and 101'
complete -c steno -n '__steno_at refund 0' -x -a '(__steno_ids audiofile)'
complete -c steno -n '__steno_at balance' -l min -x -d 'exit with 1 if there is less than this'
complete -c steno -n '__steno_at invoice' -x -a '(__steno_ids invoice)'
complete -c steno -n '__steno_at report' -l since -x -d 'leave out what was spent or delivered before: 2026-01-01, or 90d ago'
complete -c steno -n '__steno_at report' -l by -x -a 'month sku order' -d 'show what was spent by this alone'
complete -c steno -n '__steno_at report' -l html -r -F -d 'write a page with charts, for a browser or a printer'
complete -c steno -n '__steno_at listen' -l port -x -d 'listen on this port; 0: any free one'
complete -c steno -n '__steno_at listen' -l register -d 'set the account\'s webhook to this listener, with a secret path, until it ends'
complete -c steno -n '__steno_at listen' -l public-url -x -d 'with --register: where the service reaches it'
complete -c steno -n '__steno_at listen' -l tunnel -x -d 'start this and take the https URL that it prints; fills in {url}, {port}'
complete -c steno -n '__steno_at listen' -l forward-to -x -a '(printf "%s\\n"  | __steno_list --forward-to)' -d 'forward each event to these, as received'
complete -c steno -n '__steno_at listen' -l exec -x -d 'run this for each event: JSON on stdin, STENO_EVENT_* variables'
complete -c steno -n '__steno_at listen' -l download -x -a '(__fish_complete_directories (__steno_typed))' -d 'download each transcript when it is complete'
complete -c steno -n '__steno_at listen' -l host -x -d 'listen on this address'
complete -c steno -n '__steno_at listen' -l path -x -d 'receive events at this path'
complete -c steno -n '__steno_at listen' -l tls-cert -r -F -d 'serve https with this certificate (PEM), and --tls-key'
complete -c steno -n '__steno_at listen' -l tls-key -r -F -d 'the key of the certificate in --tls-cert (PEM)'
complete -c steno -n '__steno_at listen' -l exec-with-key -d 'give the command of --exec the key too, as STENO_API_KEY'
complete -c steno -n '__steno_at listen' -l exec-timeout -x -d 'end a command of --exec that takes longer'
complete -c steno -n '__steno_at listen' -l jobs -x -d 'how many commands of --exec run at once'
complete -c steno -n '__steno_at listen' -l format -x -a '(printf "%s\\n" txt\\t"Plain text" doc\\t"Word 97 to 2003" rtf\\t"Rich text" html\\t"Web page" srt\\t"SubRip subtitles" docx\\tWord tstxt\\t"Plain text with timestamps" vtt\\t"WebVTT subtitles" | __steno_list --format)' -d 'with --download, the document types'
complete -c steno -n '__steno_at listen' -l name-as -x -d 'with --download, the name of each file, with {id}, {title}, {order}, {guid}, {date} and {ext}; what is not known is the id'
complete -c steno -n '__steno_at listen' -l only -x -a '(printf "%s\\n" TRANSCRIPT_COMPLETE\\t"transcription of a file is complete" DUPLICATE_FILE\\t"a file that was ordered before is detected" REFUND_ISSUED\\t"money is refunded to the prepay balance" CC_AUTH_FAILURE\\t"authorization of the account\'s card failed" DIFFICULT_AUDIO\\t"in some cases, a file is found to be difficult" ORDER_ON_HOLD\\t"an order is accepted but held instead of started" | __steno_list --only)' -d 'show and act on these events only; all are kept'
complete -c steno -n '__steno_at listen' -l until -x -a 'TRANSCRIPT_COMPLETE\\t"transcription of a file is complete" DUPLICATE_FILE\\t"a file that was ordered before is detected" REFUND_ISSUED\\t"money is refunded to the prepay balance" CC_AUTH_FAILURE\\t"authorization of the account\'s card failed" DIFFICULT_AUDIO\\t"in some cases, a file is found to be difficult" ORDER_ON_HOLD\\t"an order is accepted but held instead of started"' -d 'end after this event'
complete -c steno -n '__steno_at listen' -l count -x -d 'end after this many events'
complete -c steno -n '__steno_at listen' -l keep -x -d 'remove events that are older, as ledger prune does'
complete -c steno -n '__steno_at listen' -l verbose -d 'show every field of an event'
complete -c steno -n '__steno_at events' -l limit -x -d 'show at most this many'
complete -c steno -n '__steno_at events' -l event -x -a '(printf "%s\\n" TRANSCRIPT_COMPLETE\\t"transcription of a file is complete" DUPLICATE_FILE\\t"a file that was ordered before is detected" REFUND_ISSUED\\t"money is refunded to the prepay balance" CC_AUTH_FAILURE\\t"authorization of the account\'s card failed" DIFFICULT_AUDIO\\t"in some cases, a file is found to be difficult" ORDER_ON_HOLD\\t"an order is accepted but held instead of started" | __steno_list --event)' -d 'only these events'
complete -c steno -n '__steno_at events' -l file -x -a '(__steno_ids audiofile)' -d 'only events about this file'
complete -c steno -n '__steno_at events' -l order -x -a '(__steno_ids order)' -d 'only events about this order'
complete -c steno -n '__steno_at events' -l since -x -d 'only events since then: 2026-11-01, or 3d ago'
complete -c steno -n '__steno_at events' -l found -d 'instead, events that never came, found by asking the service'
complete -c steno -n '__steno_at events' -l follow -d 'go on and print events as they arrive, until Ctrl-C'
complete -c steno -n '__steno_at "events show" 0' -x -a '(__steno_ids event)'
complete -c steno -n '__steno_at "events replay"' -l to -x -d 'send them here'
complete -c steno -n '__steno_at "events replay"' -l exec -x -d 'run this for each: JSON on stdin, STENO_EVENT_* variables'
complete -c steno -n '__steno_at "events replay"' -l exec-with-key -d 'give the command of --exec the key too, as STENO_API_KEY'
complete -c steno -n '__steno_at "events replay"' -l exec-timeout -x -d 'end a command of --exec that takes longer'
complete -c steno -n '__steno_at "events replay"' -x -a '(__steno_ids event)'
complete -c steno -n '__steno_at "webhook test" 0' -x -a 'TRANSCRIPT_COMPLETE\\t"transcription of a file is complete" REFUND_ISSUED\\t"money is refunded to the prepay balance" DIFFICULT_AUDIO\\t"in some cases, a file is found to be difficult" ORDER_ON_HOLD\\t"an order is accepted but held instead of started"'
complete -c steno -n '__steno_at login' -l api-key-command -x -d 'keep a command that prints the key, in place of the key'
complete -c steno -n '__steno_at login' -l no-verify -d 'keep it without asking the service'
complete -c steno -n '__steno_at "config get" 0' -x -a 'base-url\\t"address of the service" api-key\\t"key of the account" api-key-command\\t"command that prints the key" timeout\\t"how long a request may take" ledger\\t"postgres:// URL of a ledger that a team shares" ledger-password-command\\t"command that prints the password of the shared ledger" account\\t"whose orders these are, in a shared ledger (default: the name of the profile)" upload-command\\t"command that uploads a file and prints its https URL, for order <file>" budget\\t"how much may be ordered in a day, week, month or year: 200/month" currency\\t"currency of amounts that say none" price.TRANS14\\t"price of a minute: Budget transcription, target of 14 days" price.TRANS2\\t"price of a minute: 1-day expert transcription" price.TRANS6\\t"price of a minute: 6-day transcription" price.TRANS7\\t"price of a minute: 6-day transcription" price.EMSR02\\t"price of a minute: Advanced machine transcription" price.DIFFQ2\\t"price of a minute: Difficult audio" price.TSTMP1\\t"price of a minute: Timestamps" price.CAPTION1\\t"price of a minute: Captions/subtitles" price.VERBATIM1\\t"price of a minute: Verbatim"'
complete -c steno -n '__steno_at "config set" 0' -x -a 'base-url\\t"address of the service" api-key\\t"key of the account" api-key-command\\t"command that prints the key" timeout\\t"how long a request may take" ledger\\t"postgres:// URL of a ledger that a team shares" ledger-password-command\\t"command that prints the password of the shared ledger" account\\t"whose orders these are, in a shared ledger (default: the name of the profile)" upload-command\\t"command that uploads a file and prints its https URL, for order <file>" budget\\t"how much may be ordered in a day, week, month or year: 200/month" currency\\t"currency of amounts that say none" price.TRANS14\\t"price of a minute: Budget transcription, target of 14 days" price.TRANS2\\t"price of a minute: 1-day expert transcription" price.TRANS6\\t"price of a minute: 6-day transcription" price.TRANS7\\t"price of a minute: 6-day transcription" price.EMSR02\\t"price of a minute: Advanced machine transcription" price.DIFFQ2\\t"price of a minute: Difficult audio" price.TSTMP1\\t"price of a minute: Timestamps" price.CAPTION1\\t"price of a minute: Captions/subtitles" price.VERBATIM1\\t"price of a minute: Verbatim"'
complete -c steno -n '__steno_at "config set" 1 base-url' -x -a '(__steno_ids base-url)'
complete -c steno -n '__steno_at "config set" 1 ledger' -x -a '(__steno_ids ledger)'
complete -c steno -n '__steno_at "config set" 1 account' -x -a '(__steno_ids account)'
complete -c steno -n '__steno_at "config set" 1 timeout' -x -a '30s 1m 2m 5m'
complete -c steno -n '__steno_at "config set" 1 currency' -x -a 'USD EUR GBP'
complete -c steno -n '__steno_at "config unset" 0' -x -a 'base-url\\t"address of the service" api-key\\t"key of the account" api-key-command\\t"command that prints the key" timeout\\t"how long a request may take" ledger\\t"postgres:// URL of a ledger that a team shares" ledger-password-command\\t"command that prints the password of the shared ledger" account\\t"whose orders these are, in a shared ledger (default: the name of the profile)" upload-command\\t"command that uploads a file and prints its https URL, for order <file>" budget\\t"how much may be ordered in a day, week, month or year: 200/month" currency\\t"currency of amounts that say none" price.TRANS14\\t"price of a minute: Budget transcription, target of 14 days" price.TRANS2\\t"price of a minute: 1-day expert transcription" price.TRANS6\\t"price of a minute: 6-day transcription" price.TRANS7\\t"price of a minute: 6-day transcription" price.EMSR02\\t"price of a minute: Advanced machine transcription" price.DIFFQ2\\t"price of a minute: Difficult audio" price.TSTMP1\\t"price of a minute: Timestamps" price.CAPTION1\\t"price of a minute: Captions/subtitles" price.VERBATIM1\\t"price of a minute: Verbatim"'
complete -c steno -n '__steno_at "ledger export"' -l output -s o -r -F -d 'write it to this file, which only you can read'
complete -c steno -n '__steno_at "ledger export"' -l force -d 'with --output, replace an existing file'
complete -c steno -n '__steno_at "ledger export"' -l all-profiles -d 'of all profiles'
complete -c steno -n '__steno_at "ledger export"' -l damaged -d 'read a damaged ledger as far as that goes; all profiles'
complete -c steno -n '__steno_at "ledger import"' -l as -x -a '(__steno_ids account)' -d 'take the rows in as those of this profile or account'
complete -c steno -n '__steno_at "ledger import" 0' -F
complete -c steno -n '__steno_at "ledger prune"' -l before -x -d 'older than this: 2026-11-01, or 90d ago'
complete -c steno -n '__steno_at "ledger prune"' -l all-profiles -d 'of all profiles'
complete -c steno -n '__steno_at "ledger prune"' -l dry-run -d 'say what would be removed, and remove nothing'
complete -c steno -n '__steno_at "ledger prune"' -l yes -s y -d 'do not ask'
complete -c steno -n '__steno_at "ledger copy"' -l to -x -a '(__steno_ids copy-target)' -d 'postgres:// URL of the shared ledger, without its password; or: local'
complete -c steno -n '__steno_at "ledger copy"' -l dry-run -d 'say what would be copied, and write nothing'
complete -c steno -n '__steno_at doctor' -l offline -d 'leave out what needs the network'
complete -c steno -n '__steno_at doctor' -l test-event -x -a 'TRANSCRIPT_COMPLETE REFUND_ISSUED DIFFICULT_AUDIO ORDER_ON_HOLD' -d 'have the service send this, and wait until a listener here has it'
complete -c steno -n '__steno_at sandbox' -l port -x -d 'listen here; 0: any free port'
complete -c steno -n '__steno_at sandbox' -l host -x -d 'listen on this address'
complete -c steno -n '__steno_at sandbox' -l speed -x -d 'how fast files advance: 1 takes 5 s, 2 half of that, 0 waits for advance'
complete -c steno -n '__steno_at sandbox' -l ephemeral -d 'keep nothing, and share nothing with --sandbox'
complete -c steno -n '__steno_at sandbox' -l fault -x -a '(printf "%s\\n"  | __steno_list --fault)' -d 'make calls fail: 503=0.1, reset=0.05, truncate=0.02, slow=2s'
complete -c steno -n '__steno_at "sandbox release" 0' -x -a '(__steno_ids sandbox-held-order)'
complete -c steno -n '__steno_at "sandbox advance"' -x -a '(__steno_ids sandbox-audiofile)'
complete -c steno -n '__steno_at api 0' -x -a 'GET POST PUT PATCH DELETE HEAD'
complete -c steno -n '__steno_at completion 0' -x -a 'bash zsh fish powershell'
complete -c steno -n '__steno_at help 0' -x -a 'order\\t"Order transcription of audio at one or more URLs" attempts\\t"List orders whose outcome is not known" files\\t"List what the ledger knows of your orders and files" file\\t"Show the details and the state of files" track\\t"Take files into the ledger that were ordered elsewhere" wait\\t"Wait until files are delivered" transcript\\t"Download transcripts" sync\\t"Refresh every open file and download what is new" upgrade\\t"Upgrade a file" refund\\t"Refund a file on which no work has been done" balance\\t"Show the prepay balance in USD" invoice\\t"Show invoices with their items and totals" report\\t"Show what was spent, how long it took, and what is late" listen\\t"Receive events, keep them, and act on them" events\\t"List what listen has received" webhook\\t"Read, set and test the account\'s webhook" login\\t"Keep the key of your account" logout\\t"Forget the key of a profile" whoami\\t"Show the key (masked) and where each setting came from" config\\t"Read and change the settings of a profile" ledger\\t"Look after the ledger: back up, move, share, clean" doctor\\t"Check the set-up line by line, and say what to do" skus\\t"List the SKUs that can be ordered and upgraded" states\\t"List the states of files and invoices" formats\\t"List the formats of transcripts" sandbox\\t"Serve the whole API on this machine: no account, no cost" api\\t"Make a raw call, with the key added" completion\\t"Print the completion script of a shell" commands\\t"every command in a line" options\\t"options that every command takes" exit-codes\\t"what each exit code means" environment\\t"environment variables and settings" output\\t"tables, rows for scripts, errors and hints" json\\t"what --json prints, and its names" money\\t"what costs money, and how it is paid once" ledger-care\\t"back up, move and rescue the ledger" shared-ledger\\t"one ledger for a team and CI: rights, outages, failover" service\\t"listen with systemd or in a container; its limits and failures" security\\t"the key, the mask, strangers and privacy" topics\\t"every topic of help"'
complete -c steno -n '__steno_at help 1 attempts' -x -a 'settle'
complete -c steno -n '__steno_at help 1 events' -x -a 'show replay'
complete -c steno -n '__steno_at help 1 webhook' -x -a 'get set test'
complete -c steno -n '__steno_at help 1 config' -x -a 'list get set unset path'
complete -c steno -n '__steno_at help 1 ledger' -x -a 'status export import prune copy migrate account'
complete -c steno -n '__steno_at help 1 sandbox' -x -a 'reset release advance'
