"use client";

import { Sandbox } from "agent-sandbox-web";
import { useEffect, useState } from "react";

export default function Page() {
  const [output, setOutput] = useState("");
  useEffect(() => {
    const run = async () => {
      const { handoff, sandboxUrl } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
      const sandbox = await Sandbox.attach(handoff, { sandboxUrl });
      for await (const chunk of sandbox.commands.stream("for i in 1 2 3; do echo $i; done")) {
        if (chunk.type === "stdout") setOutput((before) => before + chunk.data);
      }
      document.title = "done";
    };
    run();
  }, []);
  return <pre id="page">{output}</pre>;
}
