"""What fails for a known reason is named with its cure, from what pip, uv, apt-get and Playwright really write."""

import sys

import pytest

from book.setup.failures import explain
from book.setup.programs import SetupError, call

CERTIFICATE, PASSWORD, DISK = "certificate is not trusted", "proxy asks for a password", "disk is full"
PROXY, NETWORK, VERSION = "proxy does not answer", "Is there a network connection?", "no such version"
HASH = "not the one that was pinned"
UV = """error: Request failed after 3 retries in 4.9s
  cause: Failed to fetch: https://HOST/simple/six/
  cause: error sending request for url (https://HOST/simple/six/)
  cause: client error (Connect)
"""
PIP = """WARNING: Retrying (Retry(total=0, connect=None, read=None)) after connection broken by '{}': /simple/six/
ERROR: Could not find a version that satisfies the requirement six (from versions: none)
ERROR: No matching distribution found for six
"""
NODE = """Downloading Chrome Headless Shell 159.0 from https://HOST/chrome-headless-shell-linux64.zip
Error: {}
    at TLSSocket.onConnectSecure (node:internal/tls/wrap:1795:34) {{
  code: '{}',
  syscall: 'connect'
}}
Failed to install browsers
Error: Download failure, code=1
    at ChildProcess.<anonymous> (lib/coreBundle.js:34127:32)
    at ChildProcess._handle.onexit (node:internal/child_process:323:12)
"""
TOOLS = {
    CERTIFICATE: [
        UV + "  cause: invalid peer certificate: UnknownIssuer\n",
        PIP.format("SSLError('[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate')"),
        NODE.format("self-signed certificate; try running Node.js with --use-system-ca", "DEPTH_ZERO_SELF_SIGNED_CERT"),
        NODE.format("unable to get local issuer certificate", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"),
        "W: Failed to fetch\nE: Certificate verification failed: The certificate is NOT trusted.\n",
    ],
    PASSWORD: [
        UV + "  cause: tunnel error: proxy authorization required\n",
        PIP.format("ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy Auth'))"),
        NODE.format("Download failed: server returned code 407 body ''", ""),
        "E: Failed to fetch\nE: Invalid response from proxy: HTTP/1.1 407 Proxy Authentication Required\n",
    ],
    DISK: [
        "error: Failed to install: numpy-2.4.6.whl\n  cause: failed to copy: No space left on device (os error 28)\n",
        "error: Failed to write to the cache\n  cause: failed to write: Disk quota exceeded (os error 122)",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n\n",
        NODE.format("ENOSPC: no space left on device, write", "ENOSPC"),
    ],
    HASH: ["  cause: Hash mismatch for `idna==3.20`\n\n  Expected:\n    sha256:00\n\n  Computed:\n    sha256:ab\n"],
    PROXY: [
        UV + "  cause: tunnel error: failed to create underlying connection\n  cause: Connection refused\n",
        PIP.format("ProxyError('Cannot connect to proxy.', NewConnectionError('[Errno 111] Connection refused'))"),
    ],
    NETWORK: [
        UV + "  cause: dns error\n  cause: failed to lookup address information: Name or service not known\n",
        "error: Failed to fetch: https://HOST/simple/six/\n  cause: operation timed out\n",
        PIP.format("NewConnectionError('Failed to establish a new connection: [Errno -2] Name not known')"),
        NODE.format("getaddrinfo ENOTFOUND HOST", "ENOTFOUND"),
        NODE.format("connect ECONNREFUSED 127.0.0.1:9", "ECONNREFUSED"),
        "W: Some index files failed to download\nE: Temporary failure resolving 'HOST'\n",
    ],
    VERSION: [
        "error: No solution found when resolving dependencies\n  cause: Because there is no version of six==99\n",
        "  cause: Because mxnet==1.9.1 has no wheels with a matching platform tag\n\nhint: Wheels are available\n",
        "ERROR: No matching distribution found for six==99\n",
        "error: No download found for request: cpython-3.99-linux-x86_64-gnu\n",
        "E: Unable to locate package python3.99-dev\n",
    ],
}


@pytest.mark.parametrize(("kind", "message"), [(kind, text) for kind, texts in TOOLS.items() for text in texts])
def test_a_failure_is_named_by_its_kind_before_the_tools_last_words(kind, message):
    line = explain(message)
    assert [each for each in TOOLS if each in line] == [kind]
    assert "\n" not in line
    last = [said for said in message.splitlines() if said.strip() and not said.startswith("    at ")][-1]
    assert line.endswith(f"({last.strip()})")


@pytest.mark.parametrize(
    "message", ["error: connectorx==1.0 breaks `setup.py`", "ValueError: certificates.txt", "killed", ""]
)
def test_another_failure_is_quoted(message):
    assert explain(f"first\n{message}\n").endswith(message.strip() or "first")
    assert ";" not in explain(message)


def test_what_a_tool_prints_alone_is_explained_too():
    with pytest.raises(SetupError, match=r"cannot do it: the disk is full: .* \(No space left on device\)"):
        call([sys.executable, "-c", "print('No space left on device'); raise SystemExit(1)"], "cannot do it")
