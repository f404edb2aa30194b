#!/bin/sh
# Prints random odd numbers of 2048 bits, a line each in hexadecimal digits, and two moduli that share a prime.
#   scripts/moduli.sh COUNT
set -eu
head -c "$((256 * $1))" /dev/urandom | od -An -v -tx1 -w256 | sed 's/ //g; s/^./c/; s/.$/1/'
printf '%s%s%s\n' \
  d97b5640d90e9c9ed51d3e3548761934bdcfa254ae9272cf55f9e181c03645825d31aa58cacd3f9dbc71bf \
  503f5c16ad3642fe809cd0158265e05594804fe7ecf0fdf7b376019ba3e713675f3dc8d04e5c1c668057f1 \
  d570046affc7d91cb9e75bfb306e01a2a5ae23f64f80344fa433eb549bb47e436299e84801da5d3e8ed9
printf '%s%s%s\n' \
  e2fe3b4504ee46fe9e24b786f6cc1bb18285a9dc991ff1183e0d112586bbaa37bf8d776d631175a1120ea4 \
  cd354467b30011b37896d7e0a9feb921de0922dbc7fc268657357a78bdc30abcf41d9de2626ac78b244d19 \
  c0673a299f87f5e4ddaa6e45ba0b54e2d80f4c26470356599b04ecb1ee1d4a1248c9206efcb902fe58a7
