// Event, EventTarget, AbortController and AbortSignal.
(function (core) {
  'use strict';
  const Exception = globalThis.DOMException;

  // domException makes a DOMException, or where the engine has none an Error of
  // that name.
  function domException(message, name) {
    if (typeof Exception === 'function') return new Exception(message, name);
    return Object.defineProperty(new Error(message), 'name', { value: name, configurable: true });
  }

  class Event {
    #type; #options;
    #prevented = false;
    #stopped = false;
    #timeStamp = core.now();

    constructor(type, options = {}) {
      this.#type = `${type}`;
      this.#options = options ?? {};
    }

    target = null;
    currentTarget = null;
    get type() { return this.#type; }
    get bubbles() { return Boolean(this.#options.bubbles); }
    get cancelable() { return Boolean(this.#options.cancelable); }
    get defaultPrevented() { return this.#prevented; }
    get timeStamp() { return this.#timeStamp; }
    preventDefault() { if (this.cancelable) this.#prevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.#stopped = true; }
    static stopped(event) { return event.#stopped; }
  }
  const { stopped } = Event;
  delete Event.stopped;

  class CustomEvent extends Event {
    #detail;
    constructor(type, options) {
      super(type, options);
      this.#detail = options?.detail ?? null;
    }
    get detail() { return this.#detail; }
  }

  class EventTarget {
    #listeners = [];

    addEventListener(type, listener, options) {
      if (listener === null || listener === undefined) return;
      if (this.#listeners.some((known) => known.type === `${type}` && known.listener === listener)) return;
      const once = Boolean(typeof options === 'object' && options?.once);
      this.#listeners.push({ type: `${type}`, listener, once });
      options?.signal?.addEventListener('abort', () => this.removeEventListener(type, listener), { once: true });
    }

    removeEventListener(type, listener) {
      this.#listeners = this.#listeners.filter((known) => known.type !== `${type}` || known.listener !== listener);
    }

    dispatchEvent(event) {
      event.target = this;
      event.currentTarget = this;
      for (const known of [...this.#listeners]) {
        if (known.type !== event.type || stopped(event) || !this.#listeners.includes(known)) continue;
        if (known.once) this.removeEventListener(known.type, known.listener);
        call(known.listener, this, event);
      }
      return !event.defaultPrevented;
    }
  }

  // call reports what a listener throws and goes on with the next.
  function call(listener, target, event) {
    try {
      if (typeof listener === 'function') listener.call(target, event);
      else listener.handleEvent(event);
    } catch (error) {
      queueMicrotask(() => { throw error; });
    }
  }

  let allowed = false;

  // make runs a constructor that scripts must not call themselves.
  function make() {
    allowed = true;
    try {
      return new AbortSignal();
    } finally {
      allowed = false;
    }
  }

  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason;
    onabort = null;

    constructor() {
      if (!allowed) throw new TypeError('Illegal constructor');
      super();
    }

    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }

    static abort(reason) {
      const signal = make();
      trip(signal, reason);
      return signal;
    }

    static timeout(milliseconds) {
      const signal = make();
      core.load('timers').setTimeout(() => trip(signal, domException('The operation was aborted due to timeout', 'TimeoutError')), milliseconds);
      return signal;
    }

    static any(signals) {
      const all = [...signals];
      const signal = make();
      const done = all.find((one) => one.aborted);
      if (done !== undefined) trip(signal, done.reason);
      else all.forEach((one) => one.addEventListener('abort', () => trip(signal, one.reason), { once: true }));
      return signal;
    }

    static trip(signal, reason = domException('This operation was aborted', 'AbortError')) {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason;
      const event = new Event('abort');
      if (typeof signal.onabort === 'function') call(signal.onabort, signal, event);
      signal.dispatchEvent(event);
    }
  }
  const { trip } = AbortSignal;
  delete AbortSignal.trip;

  class AbortController {
    #signal = make();
    get signal() { return this.#signal; }
    abort(reason) { trip(this.#signal, reason); }
  }

  return { __proto__: null, Event, CustomEvent, EventTarget, AbortSignal, AbortController, domException };
})
