#compdef swcaffe
# Completion of swcaffe's command lines for zsh. The binary itself lists the candidates.
_swcaffe() {
    local item word help kind=""
    local -a before closed closedTexts open openTexts
    before=("${(@)words[1,CURRENT-1]}")
    local reply
    reply=$("${before[1]/#\~/$HOME}" completion reply -line="${(F)before}" -word="$PREFIX" 2>/dev/null) || return 1
    for item in "${(@f)reply}"; do
        if [[ -z $kind ]]; then
            kind=$item
            continue
        fi
        word=${item%%$'\t'*}
        help=$word
        if [[ $item == *$'\t'* ]]; then
            help="${(r:26:)word} ${item#*$'\t'}"
            help=${help[1,COLUMNS-2]}
        fi
        if [[ $word == *[/=,] ]]; then
            open+=("$word")
            openTexts+=("$help")
        else
            closed+=("$word")
            closedTexts+=("$help")
        fi
    done
    if [[ $PREFIX == -*=* ]]; then
        compset -P '*='
    fi
    if [[ $kind == files ]]; then
        (( $#open )) && compadd -f -S '' -a open
        (( $#closed )) && compadd -f -a closed
    else
        (( $#open )) && compadd -S '' -l -d openTexts -a open
        (( $#closed )) && compadd -l -d closedTexts -a closed
    fi
    (( $#open + $#closed ))
}
if [[ ${funcstack[1]} == _swcaffe ]]; then
    _swcaffe "$@"
else
    compdef _swcaffe swcaffe
fi
