// require('path'): Node's functions for POSIX paths.
(function () {
  'use strict';

  function normalize(path) {
    if (path === '') return '.';
    const absolute = path[0] === '/';
    const kept = [];
    for (const step of path.split('/')) {
      if (step === '' || step === '.') continue;
      if (step !== '..') kept.push(step);
      else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
      else if (!absolute) kept.push('..');
    }
    const joined = kept.join('/') + (path.endsWith('/') && kept.length > 0 ? '/' : '');
    return absolute ? `/${joined}` : joined || (path.endsWith('/') ? './' : '.');
  }

  function join(...parts) {
    return normalize(parts.filter((part) => part !== '').join('/'));
  }

  function resolve(...parts) {
    let path = '';
    for (const part of ['/workspace', ...parts]) path = part[0] === '/' ? part : part === '' ? path : `${path}/${part}`;
    const whole = normalize(path);
    return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole;
  }

  function trimmed(path) {
    return path.replace(/\/+$/, '');
  }

  function dirname(path) {
    const end = trimmed(path).lastIndexOf('/');
    if (end < 0) return path[0] === '/' ? '/' : '.';
    return trimmed(path.slice(0, end)) || '/';
  }

  function basename(path, suffix = '') {
    const name = trimmed(path).split('/').pop();
    return suffix !== '' && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  }

  function extname(path) {
    const name = basename(path);
    const dot = name.lastIndexOf('.');
    return dot <= 0 || name === '..' ? '' : name.slice(dot);
  }

  function parse(path) {
    const base = basename(path);
    const ext = extname(path);
    const root = path[0] === '/' ? '/' : '';
    const dir = trimmed(path).includes('/') ? dirname(path) : root;
    return { root, dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
  }

  function format({ dir, root = '', base, name = '', ext = '' }) {
    const file = base ?? name + (ext === '' || ext[0] === '.' ? ext : `.${ext}`);
    if (!dir) return root + file;
    return dir === root ? dir + file : `${dir}/${file}`;
  }

  function relative(from, to) {
    const a = resolve(from).split('/').filter(Boolean);
    const b = resolve(to).split('/').filter(Boolean);
    let same = 0;
    while (same < a.length && same < b.length && a[same] === b[same]) same++;
    return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/');
  }

  const path = { sep: '/', delimiter: ':', normalize, join, resolve, dirname, basename, extname, parse, format, relative, isAbsolute: (text) => text[0] === '/' };
  path.posix = path;
  return { __proto__: null, path };
})
