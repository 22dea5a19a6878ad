# Completion of steno for bash, generated from the program: changes made here are lost.
# steno says what fits at the cursor. It gets the line by stdin, so that no list of processes shows a key in it.

_steno() {
  local answer kind typed each
  COMPREPLY=()
  answer=$(printf '%s\0' "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" "${COMP_TYPE-}" "${COLUMNS-}" |
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
