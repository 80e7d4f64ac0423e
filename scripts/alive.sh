# Functions for scripts that people watch. Source this file.

# alive runs a command that prints little. On a terminal, it shows the seconds since the start meanwhile.
alive() {
  [ -t 2 ] || { "$@"; return; }
  local status=0 began=$SECONDS
  while sleep 1; do printf '\r[%3d s]\r' $((SECONDS - began)); done >&2 &
  local ticker=$!
  "$@" || status=$?
  kill "$ticker"
  wait "$ticker" 2>/dev/null || true
  printf '\r\033[K' >&2
  return $status
}
