#!/bin/sh
# A compiler's launcher, "in_folder.sh FOLDER COMMAND...": what is compiled into cameo's build folder inside another
# project's build is compiled from there, with paths from there. They are then the paths of build/release, which is as deep
# below the root, so that the compiler cache has the objects.
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
