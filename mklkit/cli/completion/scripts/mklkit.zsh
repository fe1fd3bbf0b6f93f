#compdef mklkit
# Completion of mklkit in zsh; 'mklkit --install-completion' puts it in place.

_mklkit() {
    local -a answer found
    local one word adds program=${(Q)words[1]} line="${(j: :)words[1,CURRENT-1]} $IPREFIX$QIPREFIX$PREFIX"
    answer=("${(@f)$(setopt noglob; _MKLKIT_COMPLETE=zsh _MKLKIT_LINE=$line ${~program} 2>/dev/null)}")
    adds=$answer[1]
    for one in "${(@)answer[2,-1]}"; do
        word=${one%%$'\t'*}
        found+=("${${word//\\/\\\\}//:/\\:}${${one#*$'\t'}:+:${one#*$'\t'}}")
    done
    local -i none=1
    (($#found)) && _describe -V mklkit found && none=0
    if [[ $adds == (files|folders) ]]; then
        compset -P '--[^=]#='
        if [[ $adds == files ]]; then
            _files && none=0
        else
            _files -/ && none=0
        fi
    fi
    return none
}

if [[ $funcstack[1] == _mklkit ]]; then
    _mklkit "$@"
else
    compdef _mklkit mklkit
fi
