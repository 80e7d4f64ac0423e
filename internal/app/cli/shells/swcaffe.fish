# Completion of swcaffe's command lines for fish. The binary itself lists the candidates.
function __swcaffe_complete
    set -l before (commandline -opc)
    # The current word may be within a quotation that is still open, or have escapes.
    set -l current (commandline -ct | string replace -r '^["\']' '' | string replace -ra '\\\\(.)' '$1')
    set -l line (string join \n -- $before | string collect)
    # fish compares candidates with the whole word, so that values need the flag's name again.
    set -l prefix (string match -r -- '^-[^=]*=' $current; or echo "")
    set -l program (string replace -r '^~' $HOME -- $before[1])
    for item in ($program completion reply -line="$line" -word="$current" 2>/dev/null)[2..-1]
        printf '%s\n' "$prefix$item"
    end
end
complete -c swcaffe -f -a '(__swcaffe_complete)'
