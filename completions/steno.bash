# Completion of steno for bash, generated from the program: changes made here are lost.

# Sets words to the words before the cursor and cur to the one at it, as the command line will be parsed:
# COMP_WORDS splits them at = and : too. Readline replaces only what follows the last such break of cur;
# keep is the part before it.
_steno_words() {
  local line=${COMP_LINE:0:COMP_POINT} char before= started= i
  for ((i = 0; i < ${#line}; i++)); do
    char=${line:i:1}
    if [[ $quote ]]; then
      case $char in
        "$quote") quote= keep=$before ;;
        \\) [[ $quote == "'" ]] || { i=$((i + 1)) char=${line:i:1}; }; cur+=$char ;;
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
      \\) i=$((i + 1)) cur+=${line:i:1} ;;
      \' | \") quote=$char before=$keep keep=$cur ;;
      *) cur+=$char ;;
    esac
    started=1
    [[ $char == [=:@] && $COMP_WORDBREAKS == *"$char"* ]] && keep=$cur
  done
}

# Sets path to the subcommand that a word names; fails where there is none.
_steno_child() {
  case $1:$2:${3-} in
    ':order:') path=order ;;
    ':attempts:') path=attempts ;;
    ':ignore:') path=ignore ;;
    ':files:' | ':ls:') path=files ;;
    ':file:') path=file ;;
    ':track:') path=track ;;
    ':wait:') path=wait ;;
    ':transcript:') path=transcript ;;
    ':sync:') path=sync ;;
    ':upgrade:') path=upgrade ;;
    ':refund:') path=refund ;;
    ':balance:') path=balance ;;
    ':invoice:') path=invoice ;;
    ':budget:') path=budget ;;
    ':report:') path=report ;;
    ':log:') path=log ;;
    ':listen:') path=listen ;;
    ':events:') path=events ;;
    ':webhook:') path=webhook ;;
    ':login:') path=login ;;
    ':logout:') path=logout ;;
    ':whoami:') path=whoami ;;
    ':config:') path=config ;;
    ':ledger:') path=ledger ;;
    ':doctor:') path=doctor ;;
    ':skus:') path=skus ;;
    ':states:') path=states ;;
    ':formats:') path=formats ;;
    ':sandbox:') path=sandbox ;;
    ':api:') path=api ;;
    ':commands:') path=commands ;;
    ':schema:') path=schema ;;
    ':completion:') path=completion ;;
    ':help:') path=help ;;
    'attempts:settle:') path='attempts settle' ;;
    'budget:set:') path='budget set' ;;
    'budget:unset:') path='budget unset' ;;
    'events:show:') path='events show' ;;
    'events:replay:') path='events replay' ;;
    'webhook:get:') path='webhook get' ;;
    'webhook:set:') path='webhook set' ;;
    'webhook:test:') path='webhook test' ;;
    'config:list:') path='config list' ;;
    'config:get:') path='config get' ;;
    'config:set:') path='config set' ;;
    'config:unset:') path='config unset' ;;
    'config:path:') path='config path' ;;
    'ledger:status:') path='ledger status' ;;
    'ledger:export:') path='ledger export' ;;
    'ledger:import:') path='ledger import' ;;
    'ledger:prune:') path='ledger prune' ;;
    'ledger:copy:') path='ledger copy' ;;
    'ledger:migrate:') path='ledger migrate' ;;
    'ledger:account:') path='ledger account' ;;
    'sandbox:reset:') path='sandbox reset' ;;
    'sandbox:release:') path='sandbox release' ;;
    'sandbox:advance:') path='sandbox advance' ;;
    'completion:install:') path='completion install' ;;
    'completion:uninstall:') path='completion uninstall' ;;
    *) return 1 ;;
  esac
}

# The flags of a command.
_steno_flags() {
  case $1:$2:${3-} in
    'order::') offers=(--sku --from --feed --dry-run --wait --download --skip-ordered --or-existing --latest --since --match --hidden --per-order --notes --notes-file --name --key --tag --ignore-columns --test --max-cost --unpriced --up-to-budget --interval --format --name-as --fail-on-hold --retry-unclear --retry-ended --again --any-sku --param) ;;
    'attempts settle::') offers=(--placed --file --not-placed --reopen) ;;
    'ignore::') offers=(--list --remove) ;;
    'files::') offers=(--state --since --order --key --tag --feed --refresh --limit) ;;
    'file::') offers=(--watch --interval) ;;
    'track::') offers=(--from) ;;
    'wait::') offers=(--order --interval --download --format --name-as) ;;
    'transcript::') offers=(--format --output -o --name-as --from --jobs --force --skip-existing --test --deprecated-path) ;;
    'sync::') offers=(--download --format --missing --since --exec --name-as --jobs --exec-with-key --exec-timeout) ;;
    'upgrade::') offers=(--from --sku --any-sku --yes -y --test --again --unpriced) ;;
    'refund::') offers=(--from --yes -y --test --again) ;;
    'balance::') offers=(--min) ;;
    'report::') offers=(--since --until --by --html --force) ;;
    'log::') offers=(--since --file --order --limit) ;;
    'listen::') offers=(--port --register --public-url --tunnel --forward-to --exec --download --host --path --tls-cert --tls-key --exec-with-key --exec-timeout --jobs --format --name-as --only --any-event --until --count --keep --verbose) ;;
    'events::') offers=(--limit --event --file --order --since --found --follow) ;;
    'events replay::') offers=(--to --exec --exec-with-key --exec-timeout) ;;
    'login::') offers=(--api-key-command --no-verify) ;;
    'ledger export::') offers=(--output -o --force --all-profiles --damaged) ;;
    'ledger import::') offers=(--as) ;;
    'ledger prune::') offers=(--before --all-profiles --dry-run --yes -y) ;;
    'ledger copy::') offers=(--to --dry-run --without-shared --yes -y) ;;
    'ledger account::') offers=(--separate-from --leave-local) ;;
    'doctor::') offers=(--offline --test-event) ;;
    'sandbox::') offers=(--port --host --speed --ephemeral --fault) ;;
    'sandbox advance::') offers=(--by) ;;
    'api::') offers=(--again --unpriced) ;;
    'schema::') offers=(--dry-run) ;;
    'completion install::') offers=(--dry-run) ;;
    'completion uninstall::') offers=(--dry-run) ;;
  esac
  offers+=(--profile --base-url --api-key --sandbox --json --csv --quiet --no-color --no-progress --no-pager --debug --timeout --no-ledger --help -h --version -V)
}

# What to offer as the value of a flag; fails for a flag without a value.
_steno_value() {
  case $1:$2:${3-} in
    'order:--sku:') list=1 one=',TRANS14,TRANS2,TRANS6,TRANS7,EMSR02,' offers=('TRANS14	Budget transcription, target of 14 days' 'TRANS2	1-day expert transcription' 'TRANS6	6-day transcription' 'TRANS7	6-day transcription (the same as TRANS6)' 'EMSR02	Advanced machine transcription' 'DIFFQ2	Difficult audio' 'TSTMP1	Timestamps' 'CAPTION1	Captions/subtitles' 'VERBATIM1	Verbatim') ;;
    'order:--from:' | 'order:--feed:' | 'order:--notes-file:' | 'track:--from:' | 'transcript:--output:' | 'transcript:-o:' | 'transcript:--from:' | 'upgrade:--from:' | 'refund:--from:' | 'report:--html:' | 'listen:--tls-cert:' | 'listen:--tls-key:' | 'ledger export:--output:' | 'ledger export:-o:') kind=file ;;
    'order:--download:' | 'wait:--download:' | 'sync:--download:' | 'listen:--download:') kind=folder ;;
    'order:--latest:' | 'order:--since:' | 'order:--match:' | 'order:--per-order:' | 'order:--notes:' | 'order:--name:' | 'order:--key:' | 'order:--tag:' | 'order:--max-cost:' | 'order:--interval:' | 'order:--name-as:' | 'order:--param:' | 'files:--since:' | 'files:--key:' | 'files:--tag:' | 'files:--feed:' | 'files:--limit:' | 'file:--interval:' | 'wait:--interval:' | 'wait:--name-as:' | 'transcript:--name-as:' | 'transcript:--jobs:' | 'sync:--since:' | 'sync:--exec:' | 'sync:--name-as:' | 'sync:--jobs:' | 'sync:--exec-timeout:' | 'balance:--min:' | 'report:--since:' | 'report:--until:' | 'log:--since:' | 'log:--limit:' | 'listen:--port:' | 'listen:--public-url:' | 'listen:--tunnel:' | 'listen:--exec:' | 'listen:--host:' | 'listen:--path:' | 'listen:--exec-timeout:' | 'listen:--jobs:' | 'listen:--name-as:' | 'listen:--count:' | 'listen:--keep:' | 'events:--limit:' | 'events:--since:' | 'events replay:--to:' | 'events replay:--exec:' | 'events replay:--exec-timeout:' | 'login:--api-key-command:' | 'ledger prune:--before:' | 'sandbox:--port:' | 'sandbox:--host:' | 'sandbox:--speed:' | 'sandbox advance:--by:') ;;
    'order:--format:' | 'wait:--format:' | 'transcript:--format:' | 'sync:--format:' | 'listen:--format:') list=1 offers=('txt	Plain text' 'doc	Word 97 to 2003' 'rtf	Rich text' 'html	Web page' 'srt	SubRip subtitles' 'docx	Word' 'tstxt	Plain text with timestamps' 'vtt	WebVTT subtitles') ;;
    'attempts settle:--placed:' | 'files:--order:' | 'wait:--order:' | 'log:--order:' | 'events:--order:') kind=order ;;
    'attempts settle:--file:' | 'listen:--forward-to:' | 'sandbox:--fault:') list=1 ;;
    'files:--state:') list=1 offers=('Audio Processing	under way' 'Awaiting Edit	under way' 'Awaiting Final Approval	under way' 'Billing Processing	under way' 'Checking Audio Quality	under way' 'Delivered	the transcript is there' 'Editing to Word Count	under way' 'Error	no transcript comes' 'On Hold	waits for a release' 'Order Cancelled	no transcript comes' 'Order Chargeable	under way' 'Order Processing	under way' 'Out for edit	under way' 'Pre-Processing	under way' 'Processing	under way' 'Refunded	no transcript comes' 'Technical Difficulty	under way' 'Temporary Error	under way' 'Transcribing	under way') ;;
    'upgrade:--sku:') list=1 one=',UPGRD1,UPGRD2,UPGRD3,' offers=('DIFFQ2	Difficult audio upgrade' 'TSTMP1	Timestamps' 'CAPTION1	Subtitles/captions' 'EDIT01	Extra editing' 'UPGRD1	Upgrade TRANS14 to TRANS6' 'UPGRD2	Upgrade TRANS14 to TRANS2' 'UPGRD3	Upgrade TRANS6 to TRANS2') ;;
    'report:--by:') offers=(month sku order feed tag) ;;
    'log:--file:' | 'events:--file:') kind=audiofile ;;
    'listen:--only:' | 'events:--event:') list=1 offers=('TRANSCRIPT_COMPLETE	transcription of a file is complete' 'DUPLICATE_FILE	a file that was ordered before is detected' 'REFUND_ISSUED	money is refunded to the prepay balance' 'CC_AUTH_FAILURE	authorization of the account'\''s card failed' 'DIFFICULT_AUDIO	in some cases, a file is found to be difficult' 'ORDER_ON_HOLD	an order is accepted but held instead of started') ;;
    'listen:--until:') offers=('TRANSCRIPT_COMPLETE	transcription of a file is complete' 'DUPLICATE_FILE	a file that was ordered before is detected' 'REFUND_ISSUED	money is refunded to the prepay balance' 'CC_AUTH_FAILURE	authorization of the account'\''s card failed' 'DIFFICULT_AUDIO	in some cases, a file is found to be difficult' 'ORDER_ON_HOLD	an order is accepted but held instead of started') ;;
    'ledger import:--as:' | 'ledger account:--separate-from:') kind=account ;;
    'ledger copy:--to:') kind=copy-target ;;
    'doctor:--test-event:') offers=(TRANSCRIPT_COMPLETE REFUND_ISSUED DIFFICULT_AUDIO ORDER_ON_HOLD) ;;
    *':--profile:') kind=profile ;;
    *':--base-url:') kind=base-url ;;
    *':--api-key:' | *':--timeout:') ;;
    *) return 1 ;;
  esac
}

# What to offer as the nth argument of a command, after another one.
_steno_argument() {
  case $1:$2:${3-} in
    ':0:'*) offers=('order	Order transcription of audio at one or more URLs' 'attempts	List purchases whose outcome is not known' 'ignore	Leave audio out of lists, feeds and folders' 'files	List what the ledger knows of your orders and files' 'ls	List what the ledger knows of your orders and files' 'file	Show the details and the state of files' 'track	Take files into the ledger that were ordered elsewhere' 'wait	Wait until files are delivered' 'transcript	Download transcripts' 'sync	Refresh every open file and download what is new' 'upgrade	Upgrade files' 'refund	Refund files on which no work has been done' 'balance	Show the prepay balance in USD' 'invoice	Show invoices with their items and totals' 'budget	Show the budget, what was bought under it, and what is left' 'report	Show what was spent, how long it took, and what is late' 'log	Show who ordered, upgraded or refunded what, and what it cost' 'listen	Receive events, keep them, and act on them' 'events	List what listen has received' 'webhook	Read, set and test the account'\''s webhook' 'login	Keep the key of your account' 'logout	Forget the key of a profile' 'whoami	Show the key (masked) and where each setting came from' 'config	Read and change the settings of a profile' 'ledger	Look after the ledger: back up, move, share, clean' 'doctor	Check the set-up line by line, and say what to do' 'skus	List the SKUs that can be ordered and upgraded' 'states	List the states of files and invoices' 'formats	List the formats of transcripts' 'sandbox	Serve the whole API on this machine: no account, no cost' 'api	Make a raw call, with the key added' 'commands	List every command, for programs' 'schema	Print the JSON schema of what a command prints' 'completion	Install or print the completion script of a shell' 'help	Explain a command or a topic') ;;
    'order:'* | 'ignore:'* | 'ledger import:0:'*) kind=file ;;
    'attempts:0:'*) offers=('settle	Say what became of an order, upgrade or refund') ;;
    'attempts settle:0:'*) kind=attempt ;;
    'file:'* | 'wait:'* | 'transcript:'* | 'upgrade:'* | 'refund:'*) kind=audiofile ;;
    'invoice:'*) kind=invoice ;;
    'budget:0:'*) offers=('set	Set the budget of everyone who uses this ledger' 'unset	Remove the budget of the ledger') ;;
    'events:0:'*) offers=('show	Show one event whole, and what was done about it' 'replay	Send events once more, as they were received') ;;
    'events show:0:'* | 'events replay:'*) kind=event ;;
    'webhook:0:'*) offers=('get	Show the URL that events are sent to' 'set	Set the URL that events are sent to' 'test	Ask for a test delivery of an event') ;;
    'webhook test:0:'*) offers=('TRANSCRIPT_COMPLETE	transcription of a file is complete' 'REFUND_ISSUED	money is refunded to the prepay balance' 'DIFFICULT_AUDIO	in some cases, a file is found to be difficult' 'ORDER_ON_HOLD	an order is accepted but held instead of started') ;;
    'config:0:'*) offers=('list	Show every setting and where it came from' 'get	Show one setting' 'set	Keep a setting in the profile' 'unset	Remove a setting from the profile' 'path	Show where the settings are kept') ;;
    'config get:0:'* | 'config set:0:'* | 'config unset:0:'*) offers=('base-url	address of the service' 'api-key	key of the account' 'api-key-command	command that prints the key' 'timeout	how long a request may take' 'ledger	postgres:// URL of a ledger that a team shares' 'ledger-password-command	command that prints the password of the shared ledger' 'account	whose orders these are, in a shared ledger (default: the name of the profile)' 'upload-command	command that is given a path, uploads that file and prints its https URL, for order <file>' 'budget	how much may be spent in a day, week, month or year: 200/month' 'currency	currency of amounts that say none' 'price.TRANS14	price of a minute: Budget transcription, target of 14 days' 'price.TRANS2	price of a minute: 1-day expert transcription' 'price.TRANS6	price of a minute: 6-day transcription' 'price.TRANS7	price of a minute: 6-day transcription (the same as TRANS6)' 'price.EMSR02	price of a minute: Advanced machine transcription' 'price.DIFFQ2	price of a minute: Difficult audio' 'price.TSTMP1	price of a minute: Timestamps' 'price.CAPTION1	price of a minute: Captions/subtitles' 'price.VERBATIM1	price of a minute: Verbatim') ;;
    'config set:1:base-url') kind=base-url ;;
    'config set:1:ledger') kind=ledger ;;
    'config set:1:account') kind=account ;;
    'config set:1:timeout') offers=(30s 1m 2m 5m) ;;
    'config set:1:currency') offers=(USD EUR GBP) ;;
    'ledger:0:'*) offers=('status	Say where the ledger is, and how it is' 'export	Write the ledger as JSON lines' 'import	Take an export into the ledger' 'prune	Remove old events from the ledger' 'copy	Copy the ledger to a shared one, or back' 'migrate	Bring the shared ledger up to date' 'account	Record which service and orders belong to an account') ;;
    'sandbox:0:'*) offers=('reset	Forget all orders and start afresh' 'release	End the hold of an order, which then goes on' 'advance	Move files to their next state at once, or move the clock') ;;
    'sandbox release:0:'*) kind=sandbox-held-order ;;
    'sandbox advance:'*) kind=sandbox-audiofile ;;
    'api:0:'*) offers=(GET POST PUT PATCH DELETE HEAD) ;;
    'schema:0:'*) offers=('order	Order transcription of audio at one or more URLs' 'attempts	List purchases whose outcome is not known' 'ignore	Leave audio out of lists, feeds and folders' 'files	List what the ledger knows of your orders and files' 'file	Show the details and the state of files' 'track	Take files into the ledger that were ordered elsewhere' 'wait	Wait until files are delivered' 'transcript	Download transcripts' 'sync	Refresh every open file and download what is new' 'upgrade	Upgrade files' 'refund	Refund files on which no work has been done' 'balance	Show the prepay balance in USD' 'invoice	Show invoices with their items and totals' 'budget	Show the budget, what was bought under it, and what is left' 'report	Show what was spent, how long it took, and what is late' 'log	Show who ordered, upgraded or refunded what, and what it cost' 'listen	Receive events, keep them, and act on them' 'events	List what listen has received' 'webhook	Read, set and test the account'\''s webhook' 'login	Keep the key of your account' 'logout	Forget the key of a profile' 'whoami	Show the key (masked) and where each setting came from' 'config	Read and change the settings of a profile' 'ledger	Look after the ledger: back up, move, share, clean' 'doctor	Check the set-up line by line, and say what to do' 'skus	List the SKUs that can be ordered and upgraded' 'states	List the states of files and invoices' 'formats	List the formats of transcripts' 'sandbox	Serve the whole API on this machine: no account, no cost' 'api	Make a raw call, with the key added' 'commands	List every command, for programs' 'schema	Print the JSON schema of what a command prints' 'completion	Install or print the completion script of a shell' 'error	what stderr has with --json: error' 'warning	what stderr has with --json: warning') ;;
    'schema:1:attempts' | 'help:1:attempts') offers=(settle) ;;
    'schema:1:budget' | 'help:1:budget') offers=(set unset) ;;
    'schema:1:events' | 'help:1:events') offers=(show replay) ;;
    'schema:1:webhook' | 'help:1:webhook') offers=(get set test) ;;
    'schema:1:config' | 'help:1:config') offers=(list get set unset path) ;;
    'schema:1:ledger' | 'help:1:ledger') offers=(status export import prune copy migrate account) ;;
    'schema:1:sandbox' | 'help:1:sandbox') offers=(reset release advance) ;;
    'schema:1:completion' | 'help:1:completion') offers=(install uninstall) ;;
    'completion:0:'*) offers=('install	Put the completion script where your shell finds it' 'uninstall	Undo what completion install has done') offers+=('bash	print its script' 'zsh	print its script' 'fish	print its script' 'powershell	print its script') ;;
    'completion:0:'*) offers=('bash	print its script' 'zsh	print its script' 'fish	print its script' 'powershell	print its script') ;;
    'completion install:0:'* | 'completion uninstall:0:'*) offers=(bash zsh fish powershell) ;;
    'help:0:'*) offers=('order	Order transcription of audio at one or more URLs' 'attempts	List purchases whose outcome is not known' 'ignore	Leave audio out of lists, feeds and folders' 'files	List what the ledger knows of your orders and files' 'file	Show the details and the state of files' 'track	Take files into the ledger that were ordered elsewhere' 'wait	Wait until files are delivered' 'transcript	Download transcripts' 'sync	Refresh every open file and download what is new' 'upgrade	Upgrade files' 'refund	Refund files on which no work has been done' 'balance	Show the prepay balance in USD' 'invoice	Show invoices with their items and totals' 'budget	Show the budget, what was bought under it, and what is left' 'report	Show what was spent, how long it took, and what is late' 'log	Show who ordered, upgraded or refunded what, and what it cost' 'listen	Receive events, keep them, and act on them' 'events	List what listen has received' 'webhook	Read, set and test the account'\''s webhook' 'login	Keep the key of your account' 'logout	Forget the key of a profile' 'whoami	Show the key (masked) and where each setting came from' 'config	Read and change the settings of a profile' 'ledger	Look after the ledger: back up, move, share, clean' 'doctor	Check the set-up line by line, and say what to do' 'skus	List the SKUs that can be ordered and upgraded' 'states	List the states of files and invoices' 'formats	List the formats of transcripts' 'sandbox	Serve the whole API on this machine: no account, no cost' 'api	Make a raw call, with the key added' 'commands	List every command, for programs' 'schema	Print the JSON schema of what a command prints' 'completion	Install or print the completion script of a shell' 'options	options that every command takes' 'exit-codes	what each exit code means' 'environment	environment variables and settings' 'output	tables, rows for scripts, errors and hints' 'json	what --json prints, and its names' 'money	what costs money, and how it is paid once' 'ledger-care	back up, move and rescue the ledger' 'shared-ledger	one ledger for a team and CI: rights, outages, failover' 'service	listen with systemd or in a container; its limits and failures' 'security	the key, the mask, unknown clients and privacy' 'topics	every topic of help') ;;
  esac
}

# Adds a value that begins with what is typed, quoted as its place requires. What follows a tab tells about it: it is
# shown where bash only lists (COMP_TYPE 63, which bash 3.2 does not know) and never gets into the line.
_steno_add() {
  local about= width=${COLUMNS:-80}
  [[ $1 == *$'\t'* && ${COMP_TYPE-} == 63 ]] && about=${1#*$'\t'}
  set -- "${1%%$'\t'*}" "${2-}"
  local text=$head$1
  [[ $1 == "$typed"* ]] || return 0
  [[ $list && $used == *",$1,"* ]] && return 0
  [[ $taken && $one == *",$1,"* ]] && return 0
  text=${text#"$keep"}
  if [[ -z $quote && ${2-} != raw ]]; then
    printf -v text %q "$text"
    text=${text//\\,/,}
  fi
  if [[ $about ]]; then
    text+="  ($about)"
    ((width > 20)) && text=${text:0:width - 2}
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
  used=,${head#*=}
  for each in ${given[@]+"${given[@]}"}; do
    [[ $each == "$flag="* ]] && used+=${each#*=},
  done
  local IFS=,
  for each in $one; do
    [[ $each && $used == *",$each,"* ]] && taken=1
  done
}

_steno_offer() {
  local each used= taken=
  if [[ $list && $typed == *,* ]]; then
    head+=${typed%,*},
    typed=${typed##*,}
  fi
  [[ $list ]] && _steno_used
  for each in ${offers[@]+"${offers[@]}"}; do _steno_add "$each"; done
  case $kind in
    file) _steno_add_paths -f ;;
    folder) _steno_add_paths -d ;;
    ?*) _steno_add_ids ;;
  esac
}

_steno() {
  local words=() cur= keep= quote= path= count=0 flag= rest= last= profile=${STENO_PROFILE-}
  local kind= list= one= offers=() given=() head= typed i word sandbox=
  COMPREPLY=()
  _steno_words
  for ((i = 1; i < ${#words[@]}; i++)); do
    word=${words[i]}
    if [[ $flag ]]; then
      [[ $flag == --profile ]] && profile=$word
      given+=("$flag=$word")
      flag=
    elif [[ $rest || $word != -?* ]]; then
      [[ $count == 0 ]] && _steno_child "$path" "$word" || count=$((count + 1)) last=$word
    elif [[ $word == -- ]]; then
      rest=1
    elif [[ $word == --*=* ]]; then
      [[ $word == --profile=* ]] && profile=${word#*=}
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
  elif _steno_value "$path" "${cur%%=*}"; then
    flag=${cur%%=*} head=${cur%%=*}= typed=${cur#*=}
  fi
  _steno_offer
}

complete -F _steno steno
