# Completion of steno for fish, generated from the program: changes made here are lost.
# steno says what fits at the cursor. It gets the line by stdin, so that no list of processes shows a key in it.

# Fails where files fit: those fish offers by itself.
function __steno_fitting
    set -g __steno_offers
    command -q steno; or return 0
    set -l token (commandline -ct)
    set -l typed (string unescape -- "$token"); or set typed (string replace -ra -- '["\']' '' "$token")
    set __steno_offers (printf '%s\0' (commandline -opc) "$typed" | command steno __complete fish 2>/dev/null)
    set -l first $__steno_offers[1..3]
    set -e __steno_offers[1..3]
    switch "$first[1]"
        case file
            return 1
        case folder
            set __steno_offers "$first[2]"(__fish_complete_directories "$first[3]")
    end
end

complete -c steno -f -n __steno_fitting -a '$__steno_offers'
