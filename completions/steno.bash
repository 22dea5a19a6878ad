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
  case $1:$2 in
    ':order') path=order ;;
    ':attempts') path=attempts ;;
    ':files' | ':ls') path=files ;;
    ':file') path=file ;;
    ':track') path=track ;;
    ':wait') path=wait ;;
    ':transcript') path=transcript ;;
    ':sync') path=sync ;;
    ':upgrade') path=upgrade ;;
    ':refund') path=refund ;;
    ':balance') path=balance ;;
    ':invoice') path=invoice ;;
    ':report') path=report ;;
    ':listen') path=listen ;;
    ':events') path=events ;;
    ':webhook') path=webhook ;;
    ':login') path=login ;;
    ':logout') path=logout ;;
    ':whoami') path=whoami ;;
    ':config') path=config ;;
    ':ledger') path=ledger ;;
    ':skus') path=skus ;;
    ':states') path=states ;;
    ':formats') path=formats ;;
    ':sandbox') path=sandbox ;;
    ':api') path=api ;;
    ':completion') path=completion ;;
    ':help') path=help ;;
    'attempts:settle') path='attempts settle' ;;
    'events:show') path='events show' ;;
    'events:replay') path='events replay' ;;
    'webhook:get') path='webhook get' ;;
    'webhook:set') path='webhook set' ;;
    'webhook:test') path='webhook test' ;;
    'config:list') path='config list' ;;
    'config:get') path='config get' ;;
    'config:set') path='config set' ;;
    'config:unset') path='config unset' ;;
    'config:path') path='config path' ;;
    'ledger:status') path='ledger status' ;;
    'ledger:export') path='ledger export' ;;
    'ledger:import') path='ledger import' ;;
    'ledger:prune') path='ledger prune' ;;
    'ledger:copy') path='ledger copy' ;;
    'ledger:migrate') path='ledger migrate' ;;
    'ledger:account') path='ledger account' ;;
    'sandbox:reset') path='sandbox reset' ;;
    'sandbox:release') path='sandbox release' ;;
    'sandbox:advance') path='sandbox advance' ;;
    *) return 1 ;;
  esac
}

# The flags of a command.
_steno_flags() {
  case $1:$2 in
    'order:') offers=(--sku --from --feed --dry-run --wait --download --skip-ordered --latest --since --match --per-order --notes --notes-file --name --key --test --max-cost --unpriced --interval --format --name-as --fail-on-hold --retry-unclear --again --any-sku --param) ;;
    'attempts settle:') offers=(--placed --file --not-placed) ;;
    'files:') offers=(--state --since --order --refresh --limit) ;;
    'file:') offers=(--watch --interval) ;;
    'track:') offers=(--from) ;;
    'wait:') offers=(--order --interval --download --format --name-as) ;;
    'transcript:') offers=(--format --output -o --name-as --from --jobs --force --skip-existing --test --deprecated-path) ;;
    'sync:') offers=(--download --format --name-as --jobs) ;;
    'upgrade:') offers=(--sku --any-sku --test) ;;
    'refund:') offers=(--yes -y --test) ;;
    'balance:') offers=(--min) ;;
    'report:') offers=(--since --by --html) ;;
    'listen:') offers=(--port --register --public-url --tunnel --forward-to --exec --download --host --path --tls-cert --tls-key --exec-with-key --exec-timeout --jobs --format --name-as --only --until --count --keep --verbose) ;;
    'events:') offers=(--limit --event --file --order --since --found --follow) ;;
    'events replay:') offers=(--to --exec --exec-with-key --exec-timeout) ;;
    'login:') offers=(--api-key-command --no-verify) ;;
    'ledger export:') offers=(--output -o --force --all-profiles --damaged) ;;
    'ledger import:') offers=(--as) ;;
    'ledger prune:') offers=(--before --all-profiles --dry-run --yes -y) ;;
    'ledger copy:') offers=(--to --dry-run) ;;
    'sandbox:') offers=(--port --host --speed --ephemeral --fault) ;;
  esac
  offers+=(--profile --base-url --api-key --sandbox --json --csv --quiet --no-color --debug --timeout --no-ledger --help -h --version -V)
}

# What to offer as the value of a flag; fails for a flag without a value.
_steno_value() {
  case $1:$2 in
    'sandbox:--port') ;;
    'sandbox:--host') ;;
    'sandbox:--speed') ;;
    'sandbox:--fault') list=1 ;;
    'ledger copy:--to') ;;
    'ledger prune:--before') ;;
    'ledger import:--as') ;;
    'ledger export:--output' | 'ledger export:-o') kind=file ;;
    'login:--api-key-command') ;;
    'events replay:--to') ;;
    'events replay:--exec') ;;
    'events replay:--exec-timeout') ;;
    'events:--limit') ;;
    'events:--event') list=1 offers=(TRANSCRIPT_COMPLETE DUPLICATE_FILE REFUND_ISSUED CC_AUTH_FAILURE DIFFICULT_AUDIO ORDER_ON_HOLD) ;;
    'events:--file') kind=audiofile ;;
    'events:--order') kind=order ;;
    'events:--since') ;;
    'listen:--port') ;;
    'listen:--public-url') ;;
    'listen:--tunnel') ;;
    'listen:--forward-to') list=1 ;;
    'listen:--exec') ;;
    'listen:--download') kind=folder ;;
    'listen:--host') ;;
    'listen:--path') ;;
    'listen:--tls-cert') kind=file ;;
    'listen:--tls-key') kind=file ;;
    'listen:--exec-timeout') ;;
    'listen:--jobs') ;;
    'listen:--format') list=1 offers=(txt doc rtf html srt docx tstxt vtt) ;;
    'listen:--name-as') ;;
    'listen:--only') list=1 offers=(TRANSCRIPT_COMPLETE DUPLICATE_FILE REFUND_ISSUED CC_AUTH_FAILURE DIFFICULT_AUDIO ORDER_ON_HOLD) ;;
    'listen:--until') offers=(TRANSCRIPT_COMPLETE DUPLICATE_FILE REFUND_ISSUED CC_AUTH_FAILURE DIFFICULT_AUDIO ORDER_ON_HOLD) ;;
    'listen:--count') ;;
    'listen:--keep') ;;
    'report:--since') ;;
    'report:--by') offers=(month sku order) ;;
    'report:--html') kind=file ;;
    'balance:--min') ;;
    'upgrade:--sku') list=1 one=',UPGRD1,UPGRD2,UPGRD3,' offers=(DIFFQ2 TSTMP1 CAPTION1 EDIT01 UPGRD1 UPGRD2 UPGRD3) ;;
    'sync:--download') kind=folder ;;
    'sync:--format') list=1 offers=(txt doc rtf html srt docx tstxt vtt) ;;
    'sync:--name-as') ;;
    'sync:--jobs') ;;
    'transcript:--format') list=1 offers=(txt doc rtf html srt docx tstxt vtt) ;;
    'transcript:--output' | 'transcript:-o') kind=file ;;
    'transcript:--name-as') ;;
    'transcript:--from') kind=file ;;
    'transcript:--jobs') ;;
    'wait:--order') kind=order ;;
    'wait:--interval') ;;
    'wait:--download') kind=folder ;;
    'wait:--format') list=1 offers=(txt doc rtf html srt docx tstxt vtt) ;;
    'wait:--name-as') ;;
    'track:--from') kind=file ;;
    'file:--interval') ;;
    'files:--state') list=1 offers=('Audio Processing' 'Awaiting Edit' 'Awaiting Final Approval' 'Billing Processing' 'Checking Audio Quality' Delivered 'Editing to Word Count' Error 'On Hold' 'Order Cancelled' 'Order Chargeable' 'Order Processing' 'Out for edit' Pre-Processing Processing Refunded 'Technical Difficulty' 'Temporary Error' Transcribing) ;;
    'files:--since') ;;
    'files:--order') kind=order ;;
    'files:--limit') ;;
    'attempts settle:--placed') kind=order ;;
    'attempts settle:--file') list=1 ;;
    'order:--sku') list=1 one=',TRANS14,TRANS2,TRANS6,TRANS7,EMSR02,' offers=(TRANS14 TRANS2 TRANS6 TRANS7 EMSR02 DIFFQ2 TSTMP1 CAPTION1 VERBATIM1) ;;
    'order:--from') kind=file ;;
    'order:--feed') kind=file ;;
    'order:--download') kind=folder ;;
    'order:--latest') ;;
    'order:--since') ;;
    'order:--match') ;;
    'order:--per-order') ;;
    'order:--notes') ;;
    'order:--notes-file') kind=file ;;
    'order:--name') ;;
    'order:--key') ;;
    'order:--max-cost') ;;
    'order:--interval') ;;
    'order:--format') list=1 offers=(txt doc rtf html srt docx tstxt vtt) ;;
    'order:--name-as') ;;
    'order:--param') ;;
    *':--profile') ;;
    *':--base-url') ;;
    *':--api-key') ;;
    *':--timeout') ;;
    *) return 1 ;;
  esac
}

# What to offer as the nth argument of a command.
_steno_argument() {
  case $1:$2 in
    ':0') offers=(order attempts files ls file track wait transcript sync upgrade refund balance invoice report listen events webhook login logout whoami config ledger skus states formats sandbox api completion help) ;;
    'attempts:0') offers=(settle) ;;
    'attempts settle:0') kind=attempt ;;
    'file:'*) kind=audiofile ;;
    'wait:'*) kind=audiofile ;;
    'transcript:'*) kind=audiofile ;;
    'upgrade:0') kind=audiofile ;;
    'refund:0') kind=audiofile ;;
    'invoice:'*) kind=invoice ;;
    'events:0') offers=(show replay) ;;
    'webhook:0') offers=(get set test) ;;
    'webhook test:0') offers=(TRANSCRIPT_COMPLETE REFUND_ISSUED DIFFICULT_AUDIO ORDER_ON_HOLD) ;;
    'config:0') offers=(list get set unset path) ;;
    'config get:0') offers=(base-url api-key api-key-command timeout ledger ledger-password-command account upload-command budget currency price.TRANS14 price.TRANS2 price.TRANS6 price.TRANS7 price.EMSR02 price.DIFFQ2 price.TSTMP1 price.CAPTION1 price.VERBATIM1) ;;
    'config set:0') offers=(base-url api-key api-key-command timeout ledger ledger-password-command account upload-command budget currency price.TRANS14 price.TRANS2 price.TRANS6 price.TRANS7 price.EMSR02 price.DIFFQ2 price.TSTMP1 price.CAPTION1 price.VERBATIM1) ;;
    'config unset:0') offers=(base-url api-key api-key-command timeout ledger ledger-password-command account upload-command budget currency price.TRANS14 price.TRANS2 price.TRANS6 price.TRANS7 price.EMSR02 price.DIFFQ2 price.TSTMP1 price.CAPTION1 price.VERBATIM1) ;;
    'ledger:0') offers=(status export import prune copy migrate account) ;;
    'ledger import:0') kind=file ;;
    'sandbox:0') offers=(reset release advance) ;;
    'sandbox release:0') kind=order ;;
    'sandbox advance:'*) kind=audiofile ;;
    'api:0') offers=(GET POST PUT PATCH DELETE HEAD) ;;
    'completion:0') offers=(bash zsh fish powershell) ;;
    'help:0') offers=(order attempts files file track wait transcript sync upgrade refund balance invoice report listen events webhook login logout whoami config ledger skus states formats sandbox api completion commands options exit-codes environment output json money topics) ;;
  esac
}

# Adds a value that begins with what is typed, quoted as its place requires.
_steno_add() {
  local text=$head$1
  [[ $1 == "$typed"* ]] || return 0
  [[ $list && $used == *",$1,"* ]] && return 0
  [[ $taken && $one == *",$1,"* ]] && return 0
  text=${text#"$keep"}
  if [[ -z $quote && ${2-} != raw ]]; then
    printf -v text %q "$text"
    text=${text//\\,/,}
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
  while IFS= read -r each; do _steno_add "${each%%$'\t'*}"; done <<<"$found"
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
  local words=() cur= keep= quote= path= count=0 flag= rest= profile=${STENO_PROFILE-}
  local kind= list= one= offers=() given=() head= typed i word
  COMPREPLY=()
  _steno_words
  for ((i = 1; i < ${#words[@]}; i++)); do
    word=${words[i]}
    if [[ $flag ]]; then
      [[ $flag == --profile ]] && profile=$word
      given+=("$flag=$word")
      flag=
    elif [[ $rest || $word != -?* ]]; then
      [[ $count == 0 ]] && _steno_child "$path" "$word" || count=$((count + 1))
    elif [[ $word == -- ]]; then
      rest=1
    elif [[ $word == --*=* ]]; then
      [[ $word == --profile=* ]] && profile=${word#*=}
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
  elif _steno_value "$path" "${cur%%=*}"; then
    flag=${cur%%=*} head=${cur%%=*}= typed=${cur#*=}
  fi
  _steno_offer
}

complete -F _steno steno
