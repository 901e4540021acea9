#!/bin/sh
# A compiler launcher, "in_folder.sh FOLDER COMMAND...". It compiles objects of cameo's build folder, which is inside another
# project's build, from that folder and with paths relative to it. These paths equal those of build/release, which is as
# deep below the root, so that the compiler cache has the objects.
folder=$1/
shift
case " $*" in
*" -o $folder"*)
  cd "$folder" || exit
  for word; do
    shift
    set -- "$@" "${word#"$folder"}"
  done ;;
esac
exec "$@"
