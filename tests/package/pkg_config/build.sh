#!/bin/sh
# Builds the program without CMake. PKG_CONFIG_PATH has the folder of cameo.pc and cameo-static.pc.
set -eu
app=$1
g++ -std=c++20 "$app" -o app_shared $(pkg-config --cflags --libs cameo)
g++ -std=c++20 "$app" -o app_static $(pkg-config --cflags --libs cameo-static)
