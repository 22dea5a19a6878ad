# Runs steno in a step of the action, notes its exit code as the output `code`, and exits with it.
[ -z "$SHARED" ] || export STENO_LEDGER="$SHARED"
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
# Output may contain untrusted text that looks like runner commands. One stream keeps all of it before the stop ends.
echo "::stop-commands::$token"
# A cancelled job signals only the shell, perhaps before there is a child.
interrupted=
child=
trap 'interrupted=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' INT TERM
steno "$@" 2>&1 &
child=$!
[ -z "$interrupted" ] || kill -TERM "$child"
wait "$child"
code=$?
while [ -n "$interrupted" ]; do
  interrupted=
  wait "$child"
  code=$?
done
echo "::$token::"
echo "code=$code" >> "$GITHUB_OUTPUT"
exit "$code"
