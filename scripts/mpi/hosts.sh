#!/usr/bin/env bash
# Makes two hosts of this computer, as root: network namespaces, node1 and node2 by name, each with one end of a cable (a veth pair), an address and
# a host name of its own, so that what runs in one reaches the other by TCP alone.
#
#   scripts/mpi/hosts.sh start DIR; DIR/on 1 mpirun --mca plm_rsh_agent DIR/agent --host ADDRESS:2,ADDRESS:2 ...; scripts/mpi/hosts.sh stop DIR
#
# DIR/addresses has the two addresses. DIR/on N runs a command on a host; DIR/agent is what mpirun calls in place of ssh: it runs its command line by the
# command in SWHOST_RUN, as build/mpi/run. DIR/carried prints the bytes that the cable has carried. iproute2 and util-linux are needed.
set -euo pipefail
action=$1 dir=$(realpath -m "$2")

stop() {
  for n in 1 2; do
    kill "$(cat "$dir/host$n.pid" 2>/dev/null)" 2>/dev/null || true
  done
  rm -rf "$dir"
}
if [ "$action" = stop ]; then
  stop
  exit
fi

mkdir -p "$dir"
trap '[ $? = 0 ] || stop' EXIT
net=10.$((RANDOM % 200 + 20)).$((RANDOM % 200)) # others may have made hosts, too
printf '127.0.0.1 localhost\n%s.1 node1\n%s.2 node2\n' "$net" "$net" >"$dir/names"
for n in 1 2; do
  # The namespaces live as long as this process. UCX looks for network cards in /sys.
  unshare --mount --net --uts sh -c "mount -t sysfs sysfs /sys && mount --bind '$dir/names' /etc/hosts && hostname node$n && exec sleep infinity" >/dev/null 2>&1 &
  echo $! >"$dir/host$n.pid"
  disown
  until [ "$(nsenter -t "$!" -u hostname 2>/dev/null)" = node$n ]; do
    kill -0 "$!" 2>/dev/null || { echo "this computer has no network namespaces for us" >&2; exit 1; }
    sleep 0.05
  done
  echo "$net.$n" >>"$dir/addresses"
done
one=$(cat "$dir/host1.pid") two=$(cat "$dir/host2.pid")
nsenter -t "$one" -n ip link add sw0 type veth peer name sw0 netns "$two"
for n in 1 2; do
  nsenter -t "$(cat "$dir/host$n.pid")" -n sh -c "ip link set lo up; ip addr add $net.$n/24 dev sw0; ip link set sw0 up"
done

# The commands may run with another /usr (scripts/unstable.sh), which has no nsenter: this one brings its libraries.
mkdir "$dir/lib"
cp "$(type -P nsenter)" "$dir/nsenter"
ldd "$dir/nsenter" | sed -n 's/^[^/]*\(\/[^ ]*\) .*/\1/p' | xargs -I{} cp -L {} "$dir/lib/"
cat >"$dir/on" <<END
#!/bin/sh
# Runs a command on host 1 or 2.
read -r pid <$dir/host\$1.pid
shift
here=\$(pwd)
exec $dir/lib/$(basename "$(ldd "$dir/nsenter" | grep -o '/[^ ]*ld-linux[^ ]*')") --library-path $dir/lib $dir/nsenter -t "\$pid" -m -n -u -- env -C "\$here" PATH="/usr/local/sbin:/usr/sbin:/sbin:\$PATH" "\$@"
END
cat >"$dir/agent" <<END
#!/bin/sh
# Stands for ssh: runs a command line on the host with an address or a name.
while :; do case \$1 in -*) shift ;; *) break ;; esac; done
while read -r address names; do
  case " \$address \$names " in *" \$1 "*) host=\${address##*.} ;; esac
done <$dir/names
shift
exec $dir/on "\$host" \$SWHOST_RUN sh -c "\$*"
END
cat >"$dir/carried" <<END
#!/bin/sh
$dir/on 1 ip -s -j link show sw0 | sed 's/.*"rx":{"bytes":\([0-9]*\).*"tx":{"bytes":\([0-9]*\).*/\1 \2/' | { read -r in out; echo \$((in + out)); }
END
chmod +x "$dir/on" "$dir/agent" "$dir/carried"
