"""From an MCP result to the value a script works with."""

import base64
import binascii
import os
import re
from json import loads

FOLDER = "/workspace"

_EXTENSIONS = {
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg", "image/bmp": "bmp",
    "audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/ogg": "ogg", "audio/flac": "flac", "audio/mp4": "m4a",
    "application/pdf": "pdf", "application/json": "json", "application/zip": "zip", "text/plain": "txt", "text/csv": "csv", "text/html": "html",
}  # fmt: skip


def decode_result(tool, result):
    """Returns structuredContent; else the one content block, or a list of all."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    content = result.get("content")
    if not isinstance(content, list) or not content:
        return None
    if len(content) == 1:
        return _block(tool, content[0])
    return [_block(tool, block) for block in content]


def _block(tool, block):
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        return _text(block.get("text"))
    if kind in ("image", "audio"):
        return _save(tool, block.get("data"), block.get("mimeType"))
    if kind == "resource":
        resource = block.get("resource")
        if isinstance(resource, dict) and isinstance(resource.get("blob"), str):
            return _save(tool, resource["blob"], resource.get("mimeType"))
        return resource
    return block


def _text(text):
    if not isinstance(text, str):
        return None
    try:
        return loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(word):
    raise ValueError(f"{word} is not JSON")


def _save(tool, data, mime):
    """Writes base64 data to a new file in /workspace, numbered on past older ones."""
    mime = mime if isinstance(mime, str) else "application/octet-stream"
    stem = os.path.join(FOLDER, re.sub(r"[^0-9A-Za-z_-]", "-", tool[:60]))
    try:
        content = base64.b64decode(data if isinstance(data, str) else "")
    except binascii.Error:
        raise ValueError(f"{tool} answered {mime} data that is not base64") from None
    number = 1
    while True:
        path = f"{stem}-{number}.{_EXTENSIONS.get(mime, 'bin')}"
        try:
            with open(path, "xb") as file:
                file.write(content)
            return {"path": path, "mimeType": mime}
        except FileExistsError:
            number += 1
