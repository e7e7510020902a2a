// Times one reading of a command's output. The same lines run in Node and in pages.

/**
 * @param {import("./settings.d.mts").Reader} read
 * @param {string} command
 * @param {(() => number) | undefined} memory bytes that are reachable now; asked every 16 MiB
 * @returns {Promise<{ characters: number, seconds: number, growth: number }>}
 */
export async function measure(read, command, memory) {
  const before = memory?.() ?? 0;
  let [characters, next, growth] = [0, 0, 0];
  const started = performance.now();
  await read(command, (text) => {
    characters += text.length;
    if (memory !== undefined && characters >= next) {
      next = characters + (16 << 20);
      growth = Math.max(growth, memory() - before);
    }
  });
  return { characters, seconds: (performance.now() - started) / 1000, growth };
}
