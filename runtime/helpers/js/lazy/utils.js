// utils: small helpers that scripts were promised.
(function (core) {
  'use strict';
  const { trusted, timer, dateISO, classes, parseJSON } = core;

  const utils = {
    // sleep waits for some milliseconds.
    async sleep(milliseconds) {
      await trusted(timer(core.load('timers').delayOf(milliseconds)));
    },

    // parseJSON parses text, keeping the digits of big whole numbers; with a
    // second argument it returns that instead of throwing.
    parseJSON(...args) {
      try {
        return parseJSON(args[0]);
      } catch (error) {
        if (args.length > 1) return args[1];
        throw error;
      }
    },

    // timestamp is the present time as ISO 8601 text.
    timestamp() {
      return dateISO(new classes.Date());
    },
  };
  return { __proto__: null, utils };
})
