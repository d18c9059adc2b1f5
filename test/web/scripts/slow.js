for (let i = 1; i <= 100; i++) {
  console.log(`step ${i}`);
  await utils.sleep(200);
}
