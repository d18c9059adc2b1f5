// setTimeout and its family, on the host's one-shot timers.
(function (core) {
  'use strict';
  const { apply, trusted, timer, mapGet, mapSet, mapDelete, classes, describe, TypeError } = core;

  const longest = 2147483647;
  let lastId = 0;
  const active = new classes.Map();

  // Timeout is what setTimeout returns; it also converts to a number.
  class Timeout {
    #id = ++lastId;
    ref() { return this; }
    unref() { return this; }
    hasRef() { return mapGet(active, this.#id) === true; }
    close() { mapDelete(active, this.#id); }
    [classes.Symbol.toPrimitive]() { return this.#id; }
    static id(timeout) { return #id in timeout ? timeout.#id : undefined; }
  }
  const idOf = Timeout.id;
  delete Timeout.id;

  function delayOf(milliseconds) {
    const delay = +milliseconds;
    return delay >= 1 && delay <= longest ? delay : 1;
  }

  function start(name, callback, delay, args, repeat) {
    if (typeof callback !== 'function') throw new TypeError(name + ' needs a function, not ' + describe(callback));
    const timeout = new Timeout();
    const id = idOf(timeout);
    mapSet(active, id, true);
    run(id, callback, delay, args, repeat);
    return timeout;
  }

  // run is not awaited: what the callback throws becomes an unhandled rejection,
  // which the driver reports.
  async function run(id, callback, delay, args, repeat) {
    do {
      await trusted(timer(delay));
      if (mapGet(active, id) !== true) return;
      if (!repeat) mapDelete(active, id);
      apply(callback, undefined, args);
    } while (repeat);
  }

  function clear(timeout) {
    const id = timeout !== null && typeof timeout === 'object' ? idOf(timeout) : +timeout;
    mapDelete(active, id);
  }

  return {
    __proto__: null,
    delayOf,
    setTimeout(callback, delay, ...args) { return start('setTimeout', callback, delayOf(delay), args, false); },
    setInterval(callback, delay, ...args) { return start('setInterval', callback, delayOf(delay), args, true); },
    setImmediate(callback, ...args) { return start('setImmediate', callback, 0, args, false); },
    clearTimeout(timeout) { clear(timeout); },
    clearInterval(timeout) { clear(timeout); },
    clearImmediate(timeout) { clear(timeout); },
  };
})
