// Files through the server.
import { makeError } from "../../js/errors.js";
import { madeAs } from "../../js/shape.js";
import { camel, withDates } from "./answers.js";
import { define, fields, Group, linkOf } from "./link.js";

const asWritten = ({ path, bytes }) => ({ path, size: bytes });

/** What a body holds beside contents and path, in bytes, at most. */
const ENVELOPE = 64;

export class ServerFiles extends Group {
  async exists(path, options) {
    return (await this.stat(path, options)).exists;
  }

  watch(path, options) {
    return linkOf(this).events("files_watch", fields(options, { path }));
  }

  async watchFor(path, durationMs, options) {
    const events = [];
    for await (const event of this.watch(path, fields(options, { timeoutMs: durationMs }))) events.push(event);
    return events;
  }

  async upload(path, data, options) {
    const link = linkOf(this);
    link.capabilities?.require("files_upload_stream");
    const bytes = await bytesOf(data);
    checkSize(link.capabilities, path, bytes);
    return asWritten(await link.call("files_upload_stream", fields(options, { path, data: bytes })));
  }

  async uploadFile(file, remotePath, options) {
    if (typeof file?.arrayBuffer !== "function") throw makeError("InvalidArgumentError", "file must be a File or a Blob.", "", {});
    return this.upload(remotePath, file, options);
  }

  async readText(path, encoding = "utf-8", options = undefined) {
    let decoder;
    try {
      decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    } catch (cause) {
      throw makeError("InvalidArgumentError", "encoding must be one that TextDecoder knows.", "", { cause });
    }
    const bytes = await this.download(path, options);
    try {
      return decoder.decode(bytes);
    } catch (cause) {
      throw makeError(
        "InvalidArgumentError",
        `The file is no text in ${decoder.encoding}.`,
        "Use download, which gives its bytes.",
        { cause },
      );
    }
  }

  async downloadFile(remotePath, target, options) {
    const open = target?.createWritable ?? target?.getWriter;
    if (!open) return new Blob([await this.download(remotePath, options ?? target)]);
    const bytes = await this.download(remotePath, options);
    const writer = await open.call(target);
    await writer.write(bytes);
    await writer.close();
    return bytes.length;
  }

  async uploadLegacy() {
    throw notThere("files_upload", "upload");
  }

  async downloadLegacy() {
    throw notThere("files_download", "download");
  }
}

define(ServerFiles, "files.", {
  list: ["files_list", ["path"], (answer) => (answer.entries ?? []).map(withDates)],
  stat: ["files_stat", ["path"], withDates],
  mkdir: ["files_mkdir", ["path"], camel],
  delete: ["files_delete", ["path"], camel],
  move: ["files_move", ["source", "destination"], camel],
  search: ["files_search", ["path", "pattern"], camel],
  archive: [
    "files_archive",
    ["paths", "format"],
    ({ content_base64, format, bytes }) => ({ data: content_base64, format, size: bytes }),
  ],
  download: ["files_download_stream", ["path"], (answer) => answer.content_base64],
  exists: "files_stat",
  watch: "files_watch",
  watchFor: "files_watch",
  upload: "files_upload_stream",
  uploadFile: "files_upload_stream",
  readText: "files_download_stream",
  downloadFile: "files_download_stream",
});

async function bytesOf(data) {
  if (typeof data === "string") return new TextEncoder().encode(data);
  if (madeAs(data) === "ArrayBuffer") return new Uint8Array(data);
  if (typeof data?.arrayBuffer === "function") return new Uint8Array(await data.arrayBuffer());
  return data;
}

/** Refuses what the server has said that it would refuse. */
function checkSize(capabilities, path, bytes) {
  const id = "files_upload_stream";
  const [most, mostSent] = ["max_bytes", "max_request_bytes"].map((key) => capabilities?.limit(id, key));
  const sent = 4 * Math.ceil(bytes?.length / 3) + (path?.length ?? 0) + ENVELOPE;
  const limit = bytes?.length > most ? most : sent > mostSent ? mostSent : undefined;
  if (limit === undefined) return;
  throw makeError("PayloadTooLargeError", `${bytes.length} bytes are more than the server takes: its limit is ${limit}.`, "", {
    statusCode: 0,
    errorType: "",
    errorCode: "payload_too_large",
    endpoint: id,
    rule: "",
    limit,
  });
}

function notThere(endpoint, instead) {
  return makeError("EndpointNotAvailableError", "The SandboxServer has no endpoint of that kind.", `Use files.${instead}.`, {
    statusCode: 404,
    errorType: "",
    errorCode: "unknown_endpoint",
    endpoint,
    rule: "",
    capability: endpoint,
  });
}
