# Completion of mklkit in bash 4.4 or newer; 'mklkit --install-completion' puts it in place.

_mklkit_complete() {
    local adds='' rest start=$2 program
    COMPREPLY=()
    # The command as it is typed: 'read' removes its backslashes, and nothing in it is run.
    read program <<<"${1/#\~/$HOME}"
    program=${program//[\"\']/}
    # Bash would expand a tilde that begins a word; in our names it is a letter.
    [[ $2 == '~'* && ${COMP_LINE:COMP_POINT-${#2}-1:1} == [[:space:]] ]] && start="\\$2"
    {
        IFS= read -r adds
        # Each line is what follows $2, the part of the word that bash will replace.
        while IFS= read -r rest; do
            COMPREPLY+=("$start$rest")
        done
    } < <(_MKLKIT_COMPLETE=bash _MKLKIT_LINE="${COMP_LINE:0:COMP_POINT}" "$program" 2>/dev/null)
    case $adds in
        files)
            if ((${#COMPREPLY[@]})); then
                # Bash would look for files only if there were nothing else.
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
                compopt -o filenames
            else
                compopt -o default
            fi
            ;;
        folders)
            compopt -o dirnames
            ;;
    esac
}

complete -F _mklkit_complete mklkit
