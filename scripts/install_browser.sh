#!/bin/sh
# Install Debian's Chromium, if there is no Chromium or Chrome yet. The tests of the page need it.
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
    echo "install Chromium to test the page of the service: apt-get install chromium" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -q --no-install-recommends chromium >/dev/null 2>&1 && exit 0
apt-get update -q >/dev/null 2>&1
apt-get install -y -q --no-install-recommends chromium >/dev/null
