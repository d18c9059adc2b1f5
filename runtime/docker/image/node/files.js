// host.file of the prelude's seam: files of the script's folders, by Node's fs.
'use strict';
const fs = require('fs');
const path = require('path');

const maxFile = 64 << 20;
const messages = { ENOENT: 'no such file or folder', EISDIR: 'is a folder', ENOTDIR: 'is not a folder', ENOSPC: 'no space left', EFBIG: 'file too large', ENOTEMPTY: 'the folder is not empty', EROFS: 'is read-only', ELOOP: 'too many links' };
const shown = { EPERM: 'EACCES', EROFS: 'EACCES', EDQUOT: 'ENOSPC' };

// Errors are thrown into scripts, so they are of the scripts' realm.
const { Error: ErrorOfScripts } = script;

class FileError extends ErrorOfScripts {
  constructor(code, name, what) {
    super(`${code}: ${what}: ${name}`);
    Object.defineProperty(this, 'code', { __proto__: null, value: code });
  }
}

// openFiles makes file(op, path, data) over the folders.
function openFiles(folders) {
  // inside refuses what leads out by its name; what links lead to, the system of
  // the container refuses.
  function inside(name) {
    if (name.includes('\0')) throw new FileError('EINVAL', JSON.stringify(name), 'a path cannot hold NUL');
    const clean = path.posix.normalize(name);
    if (!folders.some((folder) => clean === folder || clean.startsWith(folder + '/'))) {
      throw new FileError('EACCES', name, 'permission denied: use /workspace, /artifacts or /skills');
    }
    return clean;
  }

  const operations = {
    __proto__: null,
    read: (name) => readWhole(name).toString('utf8'),
    readBase64: (name) => readWhole(name).toString('base64'),
    write: (name, data) => write(name, Buffer.from(data, 'utf8')),
    writeBase64: (name, data) => write(name, Buffer.from(data, 'base64')),
    list: (name) => JSON.stringify(fs.readdirSync(name).sort().map((entry) => describe(path.posix.join(name, entry))).filter(Boolean)),
    stat: (name) => JSON.stringify(entryOf(name, fs.statSync(name))),
    remove: (name) => (fs.lstatSync(name).isDirectory() ? fs.rmdirSync(name) : fs.unlinkSync(name), ''),
  };

  return function file(op, name, data) {
    const clean = inside(name);
    try {
      return operations[op](clean, data);
    } catch (error) {
      if (error instanceof FileError) throw error;
      const code = shown[error.code] ?? error.code ?? 'EIO';
      throw new FileError(code, name, messages[error.code] ?? (code === 'EACCES' ? 'permission denied' : 'the file cannot be used'));
    }
  };
}

// readWhole opens without waiting for what is no file, such as a pipe.
function readWhole(name) {
  const fd = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  try {
    const stat = fs.fstatSync(fd);
    if (stat.isDirectory()) throw new FileError('EISDIR', name, messages.EISDIR);
    if (!stat.isFile()) throw new FileError('EINVAL', name, 'is no ordinary file');
    if (stat.size > maxFile) throw new FileError('EFBIG', name, messages.EFBIG);
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function write(name, data) {
  fs.mkdirSync(path.posix.dirname(name), { recursive: true });
  fs.writeFileSync(name, data);
  return '';
}

function describe(name) {
  try {
    return entryOf(name, fs.lstatSync(name));
  } catch {
    return undefined; // gone meanwhile
  }
}

function entryOf(name, stat) {
  return { name: path.posix.basename(name), isDirectory: stat.isDirectory(), size: stat.size, mtimeMs: stat.mtimeMs };
}

module.exports = { openFiles };
