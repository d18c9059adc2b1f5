// What the driver gets back.

// result writes what a script returned; undefined for undefined.
function result(value) {
  return encode(value, 'result', bigintAsString);
}

// error writes whatever a script threw.
function error(thrown) {
  return load('thrown').describeThrown(thrown);
}

// requireFrom is require as seen from a file; "" stands for the script itself.
function requireFrom(file, specifier) {
  return load('require').requireFrom(file, specifier);
}

// warm compiles every lazy source, for engines that are copied after this.
function warm() {
  const names = objectKeys(sources);
  for (let i = 0; i < names.length; i++) load(names[i]);
}

defineGlobals();
defineMethods();
return { __proto__: null, result, error, require: requireFrom, warm };
