// The names of the members of the module's classes, which each has one function for all of them.
import { guardOf, madeBy } from "./options.js";

/** By class, in the order of their numbers in Rust: getters, and methods with how many parameters they have. */
const MEMBERS = {
  Code: "run/2 createContext/1 listContexts/1 restartContext/2 removeContext/2",
  Commands: "run/2 stream/2 start/2 connect/2 list/1 kill/2 sendSignal/3 sendInput/3 closeStdin/2",
  Files:
    "read/2 readBytes/2 list/2 exists/2 getInfo/2 makeDir/2 move/3 __remove/2 watch/2 downloadUrl/2 uploadUrl/2 __put/4 __compose/3 __check/2 __isOlder/2 __ownFetch",
  Network: "getHost/1 getUrl/1 getAccessHeaders/0",
  Paginator: "hasNext nextToken nextItems/1",
  ProcessHandle: "pid take/0 next/0 leave/0 cancel/0 wait/1 kill/1 sendInput/2 closeStdin/1 resize/2",
  Pty: "create/1 connect/2 kill/2 sendInput/3 resize/3",
  PtyConnection:
    "sessionId pid isConnected closed send/2 sendBytes/2 resize/2 signal/1 receive/1 expect/2 close/0 __dispose/0 __iterate/0",
  Sandbox:
    "sandboxId status info url capabilities code commands files pty network server handoff/0 getTerminal/1 close/0 __dispose/0 __make/3 __snapshots/1 serverAt/1 startServer/1 listCommands/1 run/3",
  ServerCore: "call/2 events/2 attach/2",
  Source: "take/0 next/0 leave/0 cancel/0",
  TerminalSession: "pid isConnected closed send/1 receive/1 outputStream/0 resize/2 detach/0 kill/0 close/0",
};

/** Gives the module's classes, by name, their members. */
export function bindMembers(classes) {
  for (const [of, names] of Object.entries(MEMBERS)) {
    const { prototype } = classes[of];
    // By itself, since an object that the client did not make has none.
    const { __call } = prototype;
    // Nobody else need reach it: a number that no member has would be the last one's.
    delete prototype.__call;
    const guard = guardOf(of, madeBy(prototype));
    names.split(" ").forEach((text, number) => {
      const [name, length] = text.split("/");
      const run = (self, args) => __call.call(self, number, args);
      Object.defineProperty(prototype, name, guard(name, run, length && Number(length)));
    });
  }
  const connection = classes.PtyConnection.prototype;
  connection[Symbol.asyncIterator] = connection.__iterate;
}
