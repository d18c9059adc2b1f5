// Greets; a template for skills of your own, see SKILL.md.

module.exports = async function templateSkill(input) {
  const { name, times } = input || {};
  const count = Math.min(Math.max(Math.trunc(times) || 1, 1), 10);
  const lines = Array.from({ length: count }, () => `Hello, ${name || 'world'}!`);
  return { report: lines.join('\n'), count };
};
