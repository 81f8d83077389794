"""Platform folders, and the places where a memory is refused."""

from __future__ import annotations

import stat
import struct
import sys
from pathlib import Path

import platformdirs
import pytest
from memtui import operating_system, paths
from memtui.engine.errors import StoreError, UnsafePlaceError

MOUNTS = """\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
30 22 0:26 / /proc rw,nosuid - proc proc rw
41 22 0:44 / /home/ada/cloud rw,nosuid,nodev shared:9 - fuse.rclone remote: rw,user_id=1000
42 22 0:45 / /mnt/team\\040share rw,relatime shared:10 - nfs4 10.0.0.2:/team rw,vers=4.2
43 22 0:46 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync
44 22 8:1 / /srv rw - nfs server:/srv rw
45 44 8:1 / /srv rw - xfs /dev/sdb1 rw
46 22 0:50 / /mnt/smb rw - cifs //nas/home rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada/.local/share/memtui/memory.db", "ext4"),
        ("/home/ada/cloud/memory.db", "fuse.rclone"),
        ("/home/ada/cloudy/memory.db", "ext4"),
        ("/mnt/team share/a/memory.db", "nfs4"),
        ("/mnt/c/Users/ada/memory.db", "9p"),
        ("/srv/memory.db", "xfs"),
        ("/mnt/smb", "cifs"),
    ],
)
def test_the_mount_with_the_longest_point_above_a_path_tells_its_type(path: str, kind: str) -> None:
    assert operating_system.mounted_type(MOUNTS, path) == kind


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse", "fuseblk", "virtiofs", "ceph"]
)
def test_network_and_user_space_file_systems_are_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 259:2 / / rw - {kind} device rw\n")
    monkeypatch.setattr(operating_system, "MOUNTINFO", table)
    monkeypatch.setattr(operating_system, "PLATFORM", "linux")
    with pytest.raises(UnsafePlaceError) as refused:
        paths.check_memory_place(tmp_path / "memory.db")
    assert kind in refused.value.message
    assert "--allow-unsafe-fs" in refused.value.hint
    paths.check_memory_place(tmp_path / "memory.db", allow_unsafe=True)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "f2fs"])
def test_local_file_systems_are_taken(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 259:2 / / rw - {kind} device rw\n")
    monkeypatch.setattr(operating_system, "MOUNTINFO", table)
    monkeypatch.setattr(operating_system, "PLATFORM", "linux")
    paths.check_memory_place(tmp_path / "not yet there" / "memory.db")


@pytest.mark.parametrize(
    "folder",
    [
        "Dropbox",
        "Dropbox (Personal)",
        "OneDrive - Contoso",
        "Google Drive",
        "GoogleDrive-ada@example.org",
        "Nextcloud",
        "iCloud Drive",
        "Library/Mobile Documents/com~apple~CloudDocs",
        "Library/CloudStorage/Box-Box",
    ],
)
def test_folders_of_cloud_clients_are_refused_by_name(folder: str, tmp_path: Path) -> None:
    assert "cloud" in paths.why_unsafe_place(tmp_path / folder / "deep" / "memory.db")


@pytest.mark.parametrize("marker", [".stfolder", ".dropbox.cache"])
def test_folders_of_cloud_clients_are_refused_by_what_lies_in_them(marker: str, tmp_path: Path) -> None:
    (tmp_path / "Sync" / "inner").mkdir(parents=True)
    assert paths.why_unsafe_place(tmp_path / "Sync" / "inner" / "memory.db") == ""
    (tmp_path / "Sync" / marker).mkdir()
    assert marker in paths.why_unsafe_place(tmp_path / "Sync" / "inner" / "memory.db")


def test_a_link_into_a_cloud_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dropbox").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "Dropbox")
    assert "Dropbox" in paths.why_unsafe_place(tmp_path / "link" / "memory.db")


def test_a_name_that_only_resembles_a_cloud_folder_is_taken(tmp_path: Path) -> None:
    assert paths.why_unsafe_place(tmp_path / "my dropbox notes" / "memory.db") == ""
    assert paths.why_unsafe_place(tmp_path / "dropbox") == ""


def test_a_macos_mount_that_is_not_local_counts_as_a_network() -> None:
    def raw(kind: bytes, flags: int) -> bytes:
        return b"\0" * 64 + struct.pack("=II16s", flags, 0, kind) + b"\0" * 64

    assert operating_system.statfs_type(raw(b"apfs", 0x1000)) == "apfs"
    assert operating_system.statfs_type(raw(b"webdav", 0x1000)) == "webdav"
    assert operating_system.statfs_type(raw(b"strange", 0)) == "nfs"


def test_folders_are_made_for_their_owner_only(tmp_path: Path) -> None:
    made = paths.make_private_folder(tmp_path / "a" / "b" / "c")
    for folder in (made, made.parent, made.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert operating_system.loose_mode(made) is None


def test_a_folder_that_is_there_keeps_its_mode_and_a_loose_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    paths.make_private_folder(tmp_path / "open")
    assert operating_system.loose_mode(tmp_path / "open") == 0o755


def test_a_file_in_the_way_of_a_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="not a folder"):
        paths.make_private_folder(tmp_path / "file")
    with pytest.raises(StoreError, match="cannot be made"):
        paths.make_private_folder(tmp_path / "file" / "below")


def test_the_platform_folders_end_in_our_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (paths.data_folder(), paths.config_folder(), paths.state_folder()):
        assert "memtui" in folder.parts
    assert paths.default_memory().name == "memory.db"
    assert "memtui" in paths.log_folder().parts


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs is asked")
@pytest.mark.parametrize("set_so", [None, "", "/elsewhere/x", "relative/x"])
def test_folders_are_those_of_platformdirs_without_its_import(
    set_so: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
        if set_so is not None:
            monkeypatch.setenv(variable, set_so)
    assert paths.data_folder() == Path(platformdirs.user_data_dir("memtui", appauthor=False))
    assert paths.config_folder() == Path(platformdirs.user_config_dir("memtui", appauthor=False))
