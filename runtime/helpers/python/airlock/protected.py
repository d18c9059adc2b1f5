"""pii: computing on protected values, which happens on the host."""

from .encode import encode


class Protected:
    """The functions of pii."""

    def __init__(self, request):
        self._request = request

    def attr(self, token, name):
        """Reveals one attribute of a protected value, such as its country."""
        return self._post("attr", {"token": token, "attribute": name}, "value")

    def same(self, a, b):
        """Tells whether two protected values are equal after normalizing."""
        return self._post("same", {"a": a, "b": b}, "same")

    def rank(self, tokens):
        """Returns the place of each protected value in their order."""
        return self._post("rank", {"tokens": list(tokens)}, "ranks")

    def _post(self, operation, question, field):
        answer = self._request("POST", "/v1/pii/" + operation, encode(question, operation))
        return answer[field] if isinstance(answer, dict) and field in answer else answer

    def __repr__(self):
        return "<pii: attr(token, name), same(a, b), rank(tokens)>"
