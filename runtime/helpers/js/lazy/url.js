// URL and URLSearchParams after the WHATWG URL Standard. The parser follows the
// standard's states, so its names are kept.
(function (core) {
  'use strict';
  const { percent, percentDecode, decoder, parseHost, Invalid, bad } = core.load('hosts');

  const ports = { __proto__: null, 'ftp:': '21', 'file:': '', 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443' };

  // Percent-encode sets: what must not stand bare, beside controls and non-ASCII.
  const inC0 = '';
  const inFragment = ' "<>\x60';
  const inQuery = ' "#<>';
  const inSpecialQuery = inQuery + "'";
  const inPath = inQuery + '?^\x60{}';
  const inUserinfo = inPath + '/:;=@[\\]|';

  // The parser. A record is what the standard calls a URL record; host null
  // means none, path is a list or for an opaque path a string.

  function emptyRecord() {
    return { scheme: '', username: '', password: '', host: null, port: '', path: [], query: null, fragment: null };
  }

  const isSpecial = (record) => ports[record.scheme] !== undefined;
  const isDriveLetter = (text) => /^[a-z][:|]$/i.test(text);
  const startsWithDrive = (text) => /^[a-z][:|]([/\\?#]|$)/i.test(text);

  function parse(input, base) {
    const trimmed = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const text = trimmed.toWellFormed?.() ?? trimmed;
    const record = emptyRecord();
    const [rest, fragment] = cutAt(text, '#');
    if (fragment !== undefined) record.fragment = percent(fragment, inFragment);
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(rest);
    if (scheme === null) return parseRelative(record, rest, base ?? bad());
    record.scheme = scheme[0].toLowerCase();
    return parseAfterScheme(record, rest.slice(scheme[0].length), base);
  }

  function cutAt(text, mark) {
    const at = text.indexOf(mark);
    return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  }

  function parseAfterScheme(record, rest, base) {
    if (record.scheme === 'file:') return parseFile(record, rest, base?.scheme === 'file:' ? base : undefined);
    if (isSpecial(record)) {
      if (base?.scheme === record.scheme && !/^[/\\]{2}/.test(rest)) return parseRelative(record, rest, base);
      return parseAuthority(record, rest.replace(/^[/\\]+/, ''));
    }
    if (rest.startsWith('//')) return parseAuthority(record, rest.slice(2));
    if (rest[0] === '/') return parsePathAndQuery(record, rest);
    const [path, query] = cutAt(rest, '?');
    record.path = percent(path, inC0);
    return setQuery(record, query);
  }

  function parseRelative(record, rest, base) {
    record.scheme = base.scheme;
    if (typeof base.path === 'string') return rest === '' && record.fragment !== null ? Object.assign(record, { ...base, fragment: record.fragment }) : bad();
    if (base.scheme === 'file:') return parseFile(record, rest, base);
    const slashes = isSpecial(record) ? /^[/\\]{2}/ : /^\/\//;
    if (slashes.test(rest)) return parseAuthority(record, isSpecial(record) ? rest.replace(/^[/\\]+/, '') : rest.slice(2));
    Object.assign(record, { username: base.username, password: base.password, host: base.host, port: base.port });
    if (rest[0] === '/' || (isSpecial(record) && rest[0] === '\\')) return parsePathAndQuery(record, rest);
    return parseFromFolder(record, rest, base);
  }

  // parseFromFolder takes a path that starts where the base's last step was.
  function parseFromFolder(record, rest, base) {
    record.path = [...base.path];
    if (rest === '') {
      record.query = base.query;
      return record;
    }
    if (rest[0] === '?') return setQuery(record, rest.slice(1));
    shorten(record);
    return parsePathAndQuery(record, rest);
  }

  function parseFile(record, rest, base) {
    record.host = '';
    if (/^[/\\]{2}/.test(rest)) return parseFileHost(record, rest.slice(2));
    if (/^[/\\]/.test(rest)) {
      if (base !== undefined) {
        record.host = base.host;
        if (!startsWithDrive(rest.slice(1)) && isDriveLetter(base.path[0] ?? '')) record.path.push(base.path[0]);
      }
      return parsePathAndQuery(record, rest);
    }
    if (base === undefined) return parsePathAndQuery(record, rest);
    record.host = base.host;
    return startsWithDrive(rest) ? parsePathAndQuery(record, rest) : parseFromFolder(record, rest, base);
  }

  function parseFileHost(record, rest) {
    const end = rest.search(/[/\\?]|$/);
    const host = rest.slice(0, end);
    if (isDriveLetter(host)) return parsePathAndQuery(record, rest);
    record.host = host === '' ? '' : parseHost(host, true);
    if (record.host === 'localhost') record.host = '';
    return parsePathAndQuery(record, rest.slice(end));
  }

  function parseAuthority(record, rest) {
    const end = rest.search(isSpecial(record) ? /[/\\?]|$/ : /[/?]|$/);
    const authority = rest.slice(0, end);
    const at = authority.lastIndexOf('@');
    if (at >= 0) parseCredentials(record, authority.slice(0, at));
    parseHostAndPort(record, authority.slice(at + 1), at >= 0);
    return parsePathAndQuery(record, rest.slice(end));
  }

  function parseCredentials(record, text) {
    const [username, password] = cutAt(text, ':');
    record.username = percent(username, inUserinfo);
    record.password = percent(password ?? '', inUserinfo);
  }

  function parseHostAndPort(record, text, hasCredentials) {
    const colon = /:[^\]]*$/.exec(text)?.index ?? -1;
    const host = colon < 0 ? text : text.slice(0, text.indexOf(':', text.lastIndexOf(']') + 1));
    if (host === '' && (isSpecial(record) || hasCredentials || colon >= 0)) bad();
    record.host = host === '' ? '' : parseHost(host, isSpecial(record));
    if (colon >= 0) setPort(record, text.slice(host.length + 1));
  }

  function setPort(record, text) {
    if (text === '') return;
    if (!/^[0-9]+$/.test(text) || +text > 65535) bad();
    record.port = `${+text}` === ports[record.scheme] ? '' : `${+text}`;
  }

  function parsePathAndQuery(record, rest) {
    const [path, query] = cutAt(rest, '?');
    if (path !== '' || isSpecial(record)) parsePath(record, path);
    return setQuery(record, query);
  }

  function setQuery(record, query) {
    if (query !== undefined) record.query = percent(query, isSpecial(record) ? inSpecialQuery : inQuery);
    return record;
  }

  function parsePath(record, text) {
    const slash = isSpecial(record) ? /[/\\]/ : /\//;
    const steps = (slash.test(text[0] ?? '') ? text.slice(1) : text).split(slash);
    steps.forEach((step, i) => addStep(record, step, i === steps.length - 1));
  }

  function addStep(record, step, last) {
    const plain = step.toLowerCase().replaceAll('%2e', '.');
    if (plain === '..') {
      shorten(record);
      if (last) record.path.push('');
    } else if (plain === '.') {
      if (last) record.path.push('');
    } else {
      if (record.scheme === 'file:' && record.path.length === 0 && isDriveLetter(step)) step = `${step[0]}:`;
      record.path.push(percent(step, inPath));
    }
  }

  function shorten(record) {
    if (record.scheme === 'file:' && record.path.length === 1 && /^[a-z]:$/i.test(record.path[0])) return;
    record.path.pop();
  }

  function pathOf(record) {
    return typeof record.path === 'string' ? record.path : record.path.map((step) => `/${step}`).join('');
  }

  function hostOf(record) {
    if (record.host === null) return '';
    return record.host + (record.port === '' ? '' : `:${record.port}`);
  }

  function write(record) {
    let text = record.scheme;
    if (record.host !== null) {
      const password = record.password === '' ? '' : `:${record.password}`;
      const credentials = record.username === '' && password === '' ? '' : `${record.username}${password}@`;
      text += `//${credentials}${hostOf(record)}`;
    } else if (typeof record.path !== 'string' && record.path.length > 1 && record.path[0] === '') {
      text += '/.';
    }
    text += pathOf(record);
    if (record.query !== null) text += `?${record.query}`;
    return record.fragment === null ? text : `${text}#${record.fragment}`;
  }

  // application/x-www-form-urlencoded.

  function parseForm(text) {
    const decode = (part) => decoder.decode(percentDecode(part.replaceAll('+', ' ')));
    return text.split('&').filter((pair) => pair !== '').map((pair) => {
      const [name, value] = cutAt(pair, '=');
      return [decode(name), decode(value ?? '')];
    });
  }

  const inForm = '!"#$%&\'()+,/:;<=>?@[\\]^\x60{|}~';

  function writeForm(pairs) {
    const encode = (part) => percent(part, inForm).replaceAll(' ', '+');
    return pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  }

  function initialPairs(init) {
    if (init === undefined || init === null) return [];
    if (typeof init !== 'object' && typeof init !== 'function') return parseForm(`${init}`.replace(/^\?/, ''));
    if (typeof init[Symbol.iterator] !== 'function') return Object.entries(init).map(([name, value]) => [`${name}`, `${value}`]);
    return Array.from(init, (pair) => {
      const two = [...pair];
      if (two.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
      return two.map((part) => `${part}`);
    });
  }

  const inspectKey = Symbol.for('nodejs.util.inspect.custom');

  class URLSearchParams {
    #pairs;
    #changed = () => {};

    constructor(init) { this.#pairs = initialPairs(init); }

    // link makes parameters that write themselves back into a URL.
    static link(pairs, changed) {
      const params = new URLSearchParams();
      params.#pairs = pairs;
      params.#changed = changed;
      return params;
    }

    static replace(params, pairs) { params.#pairs = pairs; }

    get size() { return this.#pairs.length; }
    get(name) { return this.#pairs.find(([key]) => key === `${name}`)?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([key]) => key === `${name}`).map(([, value]) => value); }
    has(name, value) { return this.#pairs.some(([key, held]) => key === `${name}` && (value === undefined || held === `${value}`)); }

    append(name, value) {
      this.#pairs.push([`${name}`, `${value}`]);
      this.#changed();
    }

    set(name, value) {
      const at = this.#pairs.findIndex(([key]) => key === `${name}`);
      if (at < 0) return this.append(name, value);
      this.#pairs = this.#pairs.filter(([key], i) => key !== `${name}` || i === at);
      this.#pairs[at] = [`${name}`, `${value}`];
      this.#changed();
    }

    delete(name, value) {
      this.#pairs = this.#pairs.filter(([key, held]) => key !== `${name}` || (value !== undefined && held !== `${value}`));
      this.#changed();
    }

    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }

    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
    *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
    *keys() { for (const [name] of this.#pairs) yield name; }
    *values() { for (const [, value] of this.#pairs) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return writeForm(this.#pairs); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }

    [inspectKey](depth, options, inspect) {
      const shown = this.#pairs.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`);
      return shown.length === 0 ? 'URLSearchParams {}' : `URLSearchParams { ${shown.join(', ')} }`;
    }
  }
  const { link, replace } = URLSearchParams;
  delete URLSearchParams.link;
  delete URLSearchParams.replace;

  function parseOrThrow(input, base) {
    try {
      return parse(input, base);
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      throw Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input });
    }
  }

  class URL {
    #record;
    #params;

    constructor(input, base) {
      if (arguments.length === 0) throw Object.assign(new TypeError('The "url" argument must be specified'), { code: 'ERR_MISSING_ARGS' });
      this.#record = parseOrThrow(`${input}`, base === undefined ? undefined : parseOrThrow(`${base}`));
    }

    static canParse(input, base) { return URL.parse(input, base) !== null; }

    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch {
        return null;
      }
    }

    get href() { return write(this.#record); }
    set href(text) {
      this.#record = parseOrThrow(`${text}`);
      this.#refresh();
    }

    get origin() {
      const record = this.#record;
      if (record.scheme === 'blob:') return URL.parse(pathOf(record))?.origin ?? 'null';
      return isSpecial(record) && record.scheme !== 'file:' ? `${record.scheme}//${hostOf(record)}` : 'null';
    }

    get protocol() { return this.#record.scheme; }
    set protocol(text) {
      const scheme = /^[a-z][a-z0-9+.-]*(?=:|$)/i.exec(`${text}`)?.[0].toLowerCase();
      const record = this.#record;
      if (scheme === undefined || (ports[`${scheme}:`] !== undefined) !== isSpecial(record)) return;
      if (scheme === 'file' && (record.username !== '' || record.password !== '' || record.port !== '')) return;
      if (record.scheme === 'file:' && record.host === '') return;
      record.scheme = `${scheme}:`;
      if (record.port === ports[record.scheme]) record.port = '';
    }

    get username() { return this.#record.username; }
    set username(text) { if (this.#hasAuthority()) this.#record.username = percent(`${text}`, inUserinfo); }
    get password() { return this.#record.password; }
    set password(text) { if (this.#hasAuthority()) this.#record.password = percent(`${text}`, inUserinfo); }

    get host() { return hostOf(this.#record); }
    set host(text) { this.#setHost(`${text}`, true); }
    get hostname() { return this.#record.host ?? ''; }
    set hostname(text) { this.#setHost(`${text}`, false); }

    get port() { return this.#record.port; }
    set port(text) {
      if (!this.#hasAuthority()) return;
      if (`${text}` === '') this.#record.port = '';
      const digits = /^[0-9]+/.exec(`${text}`)?.[0];
      if (digits !== undefined && +digits <= 65535) setPort(this.#record, digits);
    }

    get pathname() { return pathOf(this.#record); }
    set pathname(text) {
      if (typeof this.#record.path === 'string') return;
      this.#record.path = [];
      const clean = `${text}`.replace(/[\t\n\r]/g, '').replaceAll('?', '%3F').replaceAll('#', '%23');
      if (clean !== '' || isSpecial(this.#record)) parsePath(this.#record, clean);
    }

    get search() { return this.#record.query ? `?${this.#record.query}` : ''; }
    set search(text) {
      const query = `${text}`.replace(/^\?/, '').replace(/[\t\n\r]/g, '');
      this.#record.query = null;
      if (`${text}` !== '') setQuery(this.#record, query.replaceAll('#', '%23'));
      this.#refresh();
    }

    get hash() { return this.#record.fragment ? `#${this.#record.fragment}` : ''; }
    set hash(text) { this.#record.fragment = `${text}` === '' ? null : percent(`${text}`.replace(/^#/, '').replace(/[\t\n\r]/g, ''), inFragment); }

    get searchParams() {
      this.#params ??= link(parseForm(this.#record.query ?? ''), () => {
        const query = this.#params.toString();
        this.#record.query = query === '' ? null : query;
      });
      return this.#params;
    }

    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return 'URL'; }

    [inspectKey](depth, options, inspect) {
      const shown = {};
      for (const key of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) shown[key] = this[key];
      return `URL ${inspect(shown)}`;
    }

    #refresh() {
      if (this.#params !== undefined) replace(this.#params, parseForm(this.#record.query ?? ''));
    }

    #hasAuthority() {
      return this.#record.host !== null && this.#record.host !== '' && this.#record.scheme !== 'file:';
    }

    // setHost keeps the old host when the new one is not valid.
    #setHost(text, withPort) {
      const record = this.#record;
      if (typeof record.path === 'string') return;
      const end = text.search(isSpecial(record) ? /[/\\?#]|$/ : /[/?#]|$/);
      const changed = { ...record };
      try {
        const authority = text.slice(0, end);
        const colon = authority.indexOf(':', authority.lastIndexOf(']') + 1);
        if (colon >= 0 && (!withPort || record.scheme === 'file:')) return;
        if (colon === 0 || (authority === '' && isSpecial(record) && record.scheme !== 'file:')) return;
        changed.host = parseHost(colon < 0 ? authority : authority.slice(0, colon), isSpecial(record));
        const digits = colon < 0 ? '' : /^[0-9]*/.exec(authority.slice(colon + 1))[0];
        if (digits !== '' && +digits <= 65535) setPort(changed, digits);
        this.#record = changed;
      } catch (error) {
        if (!(error instanceof Invalid)) throw error;
      }
    }
  }

  for (const key of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash', 'toString', 'toJSON']) {
    Object.defineProperty(URL.prototype, key, { enumerable: true });
  }

  return { __proto__: null, URL, URLSearchParams };
})
