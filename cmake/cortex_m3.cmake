# Toolchain file for Debian's compiler for ARM processors without an operating system, for a Cortex-M3. Programs run on
# the Stellaris LM3S6965 that qemu emulates.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR cortex-m3)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_CXX_FLAGS_INIT "-mcpu=cortex-m3 -mthumb -fno-threadsafe-statics -Wno-psabi")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-system-arm;-machine;lm3s6965evb;-display;none;-monitor;none;-serial;none;-semihosting-config;enable=on,target=native;-kernel)
