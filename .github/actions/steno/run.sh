# Runs steno in a step of the action, notes its exit code as the output `code`, and exits with it.
[ -z "$SHARED" ] || export STENO_LEDGER="$SHARED"
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
log=$RUNNER_TEMP/steno-$token
mkfifo "$log.pipe"
# Output may contain untrusted text that looks like runner commands. One stream keeps all of it before the stop ends.
echo "::stop-commands::$token"
tee "$log" < "$log.pipe" &
copy=$!
# A cancelled job signals only the shell, perhaps before there is a child.
interrupted=
child=
trap 'interrupted=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' INT TERM
steno "$@" > "$log.pipe" 2>&1 &
child=$!
[ -z "$interrupted" ] || kill -TERM "$child"
wait "$child"
code=$?
while [ -n "$interrupted" ]; do
  interrupted=
  wait "$child"
  code=$?
done
wait "$copy"
echo "::$token::"
echo "code=$code" >> "$GITHUB_OUTPUT"

# A row that was refused is marked on its line of the manifest, and kept for the summary. Only steno begins a line.
value() { local text=${1//'%'/%25}; printf %s "$text"; }
property() { local text; text=$(value "$1"); text=${text//:/%3A}; printf %s "${text//,/%2C}"; }
while [ -n "${MANIFEST:-}" ] && IFS= read -r line; do
  row=${line#"steno: $MANIFEST, line "}
  [ "$row" != "$line" ] && [[ $row =~ ^([0-9]+):\ (.*)$ ]] || continue
  echo "::error file=$(property "${MANIFEST#./}"),line=${BASH_REMATCH[1]}::$(value "${BASH_REMATCH[2]}")"
  printf '    line %s: %s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >> "$RUNNER_TEMP/steno-refused"
done < "$log"
rm -f "$log" "$log.pipe"
exit "$code"
