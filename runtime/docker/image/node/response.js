// Reads HTTP responses from a connection, piece by piece.
'use strict';

const maxHead = 1 << 16;
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');

// Reader takes the pieces of one response. after says what is read next.
class Reader {
  constructor(maxBody) {
    this.maxBody = maxBody;
    this.rest = Buffer.alloc(0);
    this.parts = [];
    this.size = 0;
    this.after = 'head';
    this.want = 0;
  }

  // feed returns true when the response is complete; it throws when it is none.
  feed(piece) {
    this.rest = this.rest.length === 0 ? piece : Buffer.concat([this.rest, piece]);
    while (this.after !== 'done' && this[this.after]());
    return this.after === 'done';
  }

  // end tells that nothing more comes, and whether that completes the response.
  end() {
    if (this.after === 'open') this.after = 'done';
    return this.after === 'done';
  }

  body() {
    return Buffer.concat(this.parts, this.size).toString('utf8');
  }

  until(mark, max) {
    const end = this.rest.indexOf(mark);
    if (end < 0 && this.rest.length > max) throw new Error('the answer is no HTTP');
    if (end < 0) return undefined;
    const text = this.rest.toString('latin1', 0, end);
    this.rest = this.rest.subarray(end + mark.length);
    return text;
  }

  head() {
    const text = this.until(headEnd, maxHead);
    if (text === undefined) return false;
    const [first, ...lines] = text.split('\r\n');
    this.status = +first.split(' ')[1];
    if (!(this.status >= 100)) throw new Error('the answer is no HTTP');
    if (this.status < 200) return true;
    const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).trim().toLowerCase(), line.slice(line.indexOf(':') + 1).trim().toLowerCase()]));
    this.keep = headers.get('connection') !== 'close';
    if (headers.get('transfer-encoding') === 'chunked') this.after = 'chunk';
    else if (headers.has('content-length')) this.expect(+headers.get('content-length'), 'fixed');
    else [this.after, this.keep] = ['open', false];
    return true;
  }

  expect(size, next) {
    if (!(size >= 0)) throw new Error('the answer is no HTTP');
    if (this.size + size > this.maxBody) throw new RangeError('the answer is too large');
    [this.want, this.after] = [size, next];
  }

  take(size) {
    const part = this.rest.subarray(0, size);
    this.rest = this.rest.subarray(part.length);
    this.size += part.length;
    if (this.size > this.maxBody) throw new RangeError('the answer is too large');
    this.parts.push(part);
    return part.length;
  }

  fixed() {
    this.want -= this.take(this.want);
    if (this.want === 0) this.after = 'done';
    return false;
  }

  open() {
    this.take(this.rest.length);
    return false;
  }

  chunk() {
    const line = this.until(lineEnd, 1024);
    if (line === undefined) return false;
    const size = parseInt(line, 16);
    this.expect(size, size === 0 ? 'trailer' : 'data');
    return true;
  }

  data() {
    this.want -= this.take(this.want);
    if (this.want === 0) this.after = 'dataEnd';
    return this.want === 0;
  }

  dataEnd() {
    if (this.until(lineEnd, 2) === undefined) return false;
    this.after = 'chunk';
    return true;
  }

  trailer() {
    const line = this.until(lineEnd, maxHead);
    if (line === '') this.after = 'done';
    return line !== undefined && line !== '';
  }
}

module.exports = { Reader };
