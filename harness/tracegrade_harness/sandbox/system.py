"""Paths that every program in a sandbox sees, and kernel files that it must not."""

from typing import Final

FOLDERS: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node"),  # the number of processors
)
"""Programs and libraries of the system."""
CONFIGURATION: Final = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone"),
    *("nsswitch.conf", "hosts", "host.conf", "gai.conf", "services", "protocols", "resolv.conf"),
    *("ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "ca-certificates", "pki/tls/certs"),
    *("pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/ca-trust/extracted", "crypto-policies"),
    *("os-release", "debian_version", "locale.alias", "locale.conf", "mime.types", "magic"),
    *("fonts", "terminfo", "inputrc", "perl", "python3", "java-11-openjdk", "java-17-openjdk"),
    "java-21-openjdk",
)
"""The visible files of `/etc`: none of them holds a secret."""
OWN_FOLDERS: Final = ("/tmp", "/run", "/var/tmp", "/dev/shm")  # noqa: S108
"""Folders that a program gets empty and in memory."""
IMAGE: Final = "/image"
"""The folder in which a supervisor sees the image of its program."""
LINKS: Final = {"/var/run": "/run"}
"""Old paths that programs still use."""
READ_ONLY: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
"""Kernel settings, which the superuser can change even without capabilities."""
UNREADABLE: Final = (
    *("/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/kallsyms"),
    *("/proc/cmdline", "/proc/timer_list", "/proc/sched_debug", "/proc/kpagecount"),
    *("/proc/vmallocinfo", "/proc/slabinfo", "/proc/config.gz"),
)
"""Kernel files about the whole machine and about others' keys."""
