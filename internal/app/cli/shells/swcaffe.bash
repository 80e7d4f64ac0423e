# Completion of swcaffe's command lines for bash. The binary itself lists the candidates.
_swcaffe() {
    local i word help kind="" line="" current="" prefix="" reply
    local -a words=() helps=()
    # Bash takes -flag=value for three words. This puts them together again.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 1)) && [[ $word == "=" || ${COMP_WORDS[i - 1]} == "=" ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    current=${words[${#words[@]} - 1]}
    # Where "=" does not split words, the candidates need the flag's name again.
    if [[ ${COMP_WORDS[COMP_CWORD]} == -*=* ]]; then
        prefix=${current%%=*}=
    fi
    unset "words[${#words[@]}-1]"
    line=$(printf '%s\n' "${words[@]}")
    COMPREPLY=()
    reply=$("${words[0]/#\~/$HOME}" completion reply -line="$line" -word="$current" 2>/dev/null) || return 0
    while IFS=$'\t' read -r word help; do
        if [[ -z $kind ]]; then
            kind=$word
        elif [[ -n $word ]]; then
            COMPREPLY+=("$prefix$word")
            helps+=("$help")
        fi
    done <<<"$reply"
    if [[ $kind == files ]]; then
        compopt -o filenames 2>/dev/null
    fi
    if ((${#COMPREPLY[@]} == 1)); then
        if [[ ${COMPREPLY[0]} == *[/=,] ]]; then
            compopt -o nospace 2>/dev/null
        fi
    elif [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 || $COMP_TYPE == 64 ]]; then
        # A list for the eye: the help stands beside each word.
        for ((i = 0; i < ${#COMPREPLY[@]}; i++)); do
            if [[ -n ${helps[i]} ]]; then
                printf -v word '%-26s %s' "${COMPREPLY[i]}" "${helps[i]}"
                COMPREPLY[i]=${word:0:${COLUMNS:-80}-2}
            fi
        done
    fi
    return 0
}
complete -o bashdefault -o default -F _swcaffe swcaffe
