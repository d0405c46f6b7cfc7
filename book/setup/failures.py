"""What a failed call of pip, uv, apt-get or Playwright means, and how to mend it. Standard library only."""

import re

# What the tools write, in small letters, and the cause with its cure. The first that matches counts: a certificate or
# password that is refused is a failed connection too, and pip calls each of these a missing version in the end.
KINDS = {
    r"invalid peer certificate|certificate[ _]verify[ _]failed|certificate verification failed"
    r"|self[- _]signed[ _]cert|local issuer certificate|unable_to_(get|verify)|cert_has_expired": (
        "a server's certificate is not trusted, as happens behind a company's proxy: have uv trust what the system "
        "trusts (UV_SYSTEM_CERTS=1), or name the file that holds the certificate (SSL_CERT_FILE for uv, PIP_CERT for "
        "pip, NODE_EXTRA_CA_CERTS for Playwright)"
    ),
    r"proxy auth|(code|failed:) 407|\b407 +proxy": (
        "the proxy asks for a password: write it into the proxy's address, https_proxy=http://NAME:PASSWORD@HOST:PORT"
    ),
    r"no space left|enospc|os error 28\b|quota exceeded|edquot": (
        "the disk is full: make room, or move what is written there (UV_CACHE_DIR, PIP_CACHE_DIR, TMPDIR)"
    ),
    r"hash mismatch": (
        "this file is not the one that was pinned: a mirror of packages serves another build, or somebody has changed "
        "it; take another mirror (UV_DEFAULT_INDEX)"
    ),
    r"cannot connect to proxy|tunnel error|tunnel connection failed": (
        "the proxy does not answer, or refuses: check its address in https_proxy, http_proxy or all_proxy"
    ),
    r"client error \(connect\)|dns error|enotfound|etimedout|eai_again|econnre|name resolution|could not resolve"
    r"|temporary failure resolving|network is|timed out|establish a new connection|connection (refused|reset|aborted)"
    r"|(could not|unable to|failed to) connect": (
        "no server answers. Is there a network connection? The next call tries again"
    ),
    r"no matching distribution|there (is|are) no versions? of|was not found in the package registry|no usable wheels"
    r"|no wheels? with|no download found|unable to locate package": (
        "there is no such version for this system and Python; a mirror of packages may be behind "
        "(UV_DEFAULT_INDEX, PIP_INDEX_URL)"
    ),
}


def last_line(message: str) -> str:
    """Return a tool's last line, cut to 300 characters; Playwright's ends are places in its code, which say nothing."""
    lines = [line.strip() for line in message.splitlines()]
    said = [line for line in lines if line and not re.match(r"at .+:\d+|[\w.]+: .+,$|}$", line)]
    return said[-1][-300:] if said else "it says nothing"


def explain(message: str) -> str:
    """Return in a line what a tool's message means: its kind and cure if it is known, and the tool's own last words."""
    for pattern, meaning in KINDS.items():
        if re.search(pattern, message.lower()):
            return f"{meaning} ({last_line(message)})"
    return " ".join(message.strip().splitlines()[-4:])[-400:]
