for (let i = 1; i <= 100; i++) {
  console.log(`item ${i}`);
  await utils.sleep(30);
}
return "counted";
