// pii: computing on protected values, which happens on the host.
(function (core) {
  'use strict';
  const { own, trusted, ask, callSite, jsonStringify, encode, bigintAsNumber } = core;

  async function post(site, operation, question, field) {
    const { value } = await trusted(ask(site, 'POST', '/v1/pii/' + operation, encode(question, operation, bigintAsNumber)));
    const answer = own(value, field);
    return answer === undefined ? value : answer;
  }

  const pii = {
    // attr reveals one attribute of a protected value, such as its country.
    attr(token, name) {
      return post(callSite(), 'attr', { __proto__: null, token, attribute: name }, 'value');
    },

    // same tells whether two protected values are equal after normalizing.
    same(a, b) {
      return post(callSite(), 'same', { __proto__: null, a, b }, 'same');
    },

    // rank returns the place of each protected value in their order.
    rank(tokens) {
      return post(callSite(), 'rank', { __proto__: null, tokens }, 'ranks');
    },
  };
  return { __proto__: null, pii };
})
