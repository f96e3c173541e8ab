#!/usr/bin/env bash
# Copies this machine's installed MPICH, as a folder that runs elsewhere: a GPU machine may have none, and cannot
# install one.
#   mpich_runtime.sh FOLDER      there: . FOLDER/env.sh && mpiexec -n 2 ./program
set -euo pipefail
folder=$1
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib/ucx"

launcher=$(readlink -f "$(command -v mpiexec.mpich)")
proxy=$(command -v hydra_pmi_proxy)
# awk reads to the end: leaving early can end ldconfig by SIGPIPE, and with it this script
library=$(ldconfig -p | awk '$1 == "libmpich.so.12" && !path {path = $NF} END {print path}')
cp "$launcher" "$folder/bin/mpiexec"
cp "$proxy" "$folder/bin/hydra_pmi_proxy"
cp -L "$library" "$folder/lib/"
# All that these need but the C library, which the other machine has.
ldd "$launcher" "$proxy" "$library" | awk '$2 == "=>" {print $3}' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | xargs -I{} cp -L {} "$folder/lib/"
# UCX finds its transports in a folder; within one machine, this is the one that MPICH uses.
cp -L "$(dirname "$(readlink -f "$library")")/ucx/libuct_cma.so.0" "$folder/lib/ucx/"
find "$folder" -type f -exec strip --strip-unneeded {} +

cat >"$folder/env.sh" <<'ENV'
# To be sourced: puts this MPICH first on the search paths.
mpich_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH=$mpich_folder/bin:$PATH LD_LIBRARY_PATH=$mpich_folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export UCX_MODULE_DIR=$mpich_folder/lib/ucx HYDRA_LAUNCHER=fork
unset mpich_folder
ENV
