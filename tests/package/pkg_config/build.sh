#!/bin/sh
# No CMake: PKG_CONFIG_PATH says where cameo.pc and cameo-static.pc are.
set -eu
app=$1
g++ -std=c++20 "$app" -o app_shared $(pkg-config --cflags --libs cameo)
g++ -std=c++20 "$app" -o app_static $(pkg-config --cflags --libs cameo-static)
