# Runs steno in a step of the action, notes its exit code as the output `code`, and exits with it.
[ -z "$SHARED" ] || export STENO_LEDGER="$SHARED"
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
# Output may contain untrusted text that looks like runner commands. One stream keeps all of it before the stop ends.
echo "::stop-commands::$token"
steno "$@" 2>&1 &
child=$!
# A cancelled job signals only the shell.
interrupted=
trap 'interrupted=1; kill -TERM "$child" 2>/dev/null' INT TERM
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
