# Completion of swcaffe's command lines for fish. The binary itself lists the candidates.
function __swcaffe_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l line (string join \n -- $before | string collect)
    # fish compares candidates with the whole word, so that values need the flag's name again.
    set -l prefix (string match -r -- '^-[^=]*=' $current; or echo "")
    for item in ($before[1] completion reply -line="$line" -word="$current" 2>/dev/null)[2..-1]
        printf '%s\n' "$prefix$item"
    end
end
complete -c swcaffe -f -a '(__swcaffe_complete)'
