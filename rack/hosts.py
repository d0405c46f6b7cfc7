"""The hosts of the rack and their links: one network namespace each, joined by a bridge in a namespace of its own.

To be called by the first process inside `namespaces.private`: names and addresses exist nowhere else.
"""

import subprocess

RATE = 25e6  # bytes per second and direction: 200 Mbit/s, which leaves two cores time for eight hosts
BURST = 3000  # bytes, two packets, that an idle link lets pass at once
QUEUE = 2**26  # bytes that wait at a link: all that any scheme here sends, so that no packet is lost
PORT = 5000


def address(host):
    """Return where the ranks on a host listen."""
    return f"10.0.0.{host + 1}"


def build(n, rate=RATE):
    """Make n hosts. `rate`, in bytes/s, limits what each sends and what each receives."""
    _run("mount -t tmpfs tmpfs /run")  # the names of network namespaces lie there
    _run("ip netns add switch")
    _run("ip -n switch link add name bridge0 type bridge")
    _run("ip -n switch link set bridge0 up")
    for host in range(n):
        _run(f"ip netns add host{host}")
        _run(f"ip link add name port{host} netns switch type veth peer name eth0 netns host{host}")
        _run(f"ip -n switch link set port{host} master bridge0 up")
        _run(f"ip -n host{host} address add {address(host)}/24 dev eth0")
        _run(f"ip -n host{host} link set lo up")
        _run(f"ip -n host{host} link set eth0 up")
        # Without a word about it each machine's own congestion control would decide.
        _run(f"ip -n host{host} route replace 10.0.0.0/24 dev eth0 src {address(host)} congctl reno")
        limit(f"host{host}", "eth0", rate)
        limit("switch", f"port{host}", rate)


def limit(namespace, link, rate):
    """Limit what leaves a namespace by a link to `rate` bytes/s."""
    _run(f"tc -n {namespace} qdisc replace dev {link} root tbf rate {8 * rate:.0f}bit burst {BURST} limit {QUEUE}")


def start(host, command, **options):
    """Start a command on a host; return its subprocess.Popen."""
    return subprocess.Popen(["nsenter", f"--net=/run/netns/host{host}", *command], **options)


def _run(command):
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
