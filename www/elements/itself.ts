/** Hosts that mean the machine itself. */
const ITSELF = /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** Whether an address is one of the machine that it was printed on: said in a sandbox, of the sandbox. */
export function meansItself({ hostname }: URL): boolean {
  return ITSELF.test(hostname);
}
