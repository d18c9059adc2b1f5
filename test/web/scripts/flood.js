for (let i = 1; i <= 2000; i++) {
  console.log(`line ${i}`);
  await utils.sleep(0); // so that each line is an event of its own
}
return "flooded";
