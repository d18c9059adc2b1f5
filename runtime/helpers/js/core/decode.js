// From an MCP result to the value a script works with.

const mediaCounts = new Map();

function decodeResult(tool, result) {
  const structured = own(result, 'structuredContent');
  if (structured !== undefined && structured !== null) return structured;
  const content = own(result, 'content');
  if (!isArray(content) || content.length === 0) return null;
  if (content.length === 1) return decodeBlock(tool, content[0]);
  const values = [];
  for (let i = 0; i < content.length; i++) define(values, i, decodeBlock(tool, content[i]));
  return values;
}

function decodeBlock(tool, block) {
  switch (own(block, 'type')) {
    case 'text': return decodeText(own(block, 'text'));
    case 'image': case 'audio': return saveMedia(tool, own(block, 'data'), own(block, 'mimeType'));
    case 'resource': return decodeResource(tool, own(block, 'resource'));
    default: return block;
  }
}

function decodeText(text) {
  if (typeof text !== 'string') return null;
  try {
    return parseJSON(text);
  } catch {
    return text;
  }
}

// decodeResource returns an embedded text resource as {uri, mimeType, text} as
// the tool gave it, and a binary one as a file, like an image.
function decodeResource(tool, resource) {
  const blob = own(resource, 'blob');
  return typeof blob === 'string' ? saveMedia(tool, blob, own(resource, 'mimeType')) : resource;
}

// saveMedia writes base64 data to a new file in /workspace.
function saveMedia(tool, data, mimeType) {
  const type = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  const path = freePath('/workspace/' + fileWord(tool), extensions[type] ?? 'bin');
  hostFile('writeBase64', path, typeof data === 'string' ? data : '');
  return { path, mimeType: type };
}

const extensions = {
  __proto__: null,
  'image/png': 'png', 'image/jpeg': 'jpg', 'image/gif': 'gif', 'image/webp': 'webp', 'image/svg+xml': 'svg', 'image/bmp': 'bmp',
  'audio/mpeg': 'mp3', 'audio/mp3': 'mp3', 'audio/wav': 'wav', 'audio/x-wav': 'wav', 'audio/ogg': 'ogg', 'audio/flac': 'flac', 'audio/mp4': 'm4a',
  'application/pdf': 'pdf', 'application/json': 'json', 'application/zip': 'zip', 'text/plain': 'txt', 'text/csv': 'csv', 'text/html': 'html',
};

// freePath numbers files of one tool on, past those of earlier executions.
function freePath(stem, extension) {
  let count = mapGet(mediaCounts, stem) ?? 0;
  let path;
  do path = stem + '-' + (++count) + '.' + extension; while (exists(path));
  mapSet(mediaCounts, stem, count);
  return path;
}

function exists(path) {
  try {
    hostFile('stat', path, '');
    return true;
  } catch {
    return false;
  }
}

// fileWord keeps of a tool's name what is safe in a file's name.
function fileWord(name) {
  let word = '';
  for (let i = 0; i < name.length && i < 60; i++) {
    const code = charCodeAt(name, i);
    const plain = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 45;
    word += plain ? name[i] : '-';
  }
  return word;
}
