/** What an entry is: of a link, what its target is; `symlink` is a broken link. */
export type FileType = "file" | "directory" | "symlink" | "other";

/** A file, directory or link. */
export interface EntryInfo {
  /** The last part of the path. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** What it is; of a link, what its target is. */
  readonly type: FileType;
  /** Bytes; of the link itself for links. Above 2^53 - 1 the nearest number there is: `Number.isSafeInteger` tells. */
  readonly size: number;
  /** Permission bits, 0 to 0o777. */
  readonly mode: number;
  /** The mode in letters, such as `-rw-r--r--`. */
  readonly permissions: string;
  /** The user it belongs to. */
  readonly owner: string;
  /** The group it belongs to. */
  readonly group: string;
  /** When its content last changed. */
  readonly modifiedTime?: Date | undefined;
  /** Present exactly for links: where it leads. */
  readonly symlinkTarget?: string | undefined;
  /** What was stored with the file. */
  readonly metadata?: Record<string, string> | undefined;
}

/** What a write made. */
export interface WriteInfo {
  /** The last part of the path. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** What it is: `"file"`. */
  readonly type: FileType;
}

/** Options of file calls. */
export interface FileOptions extends CallOptions {
  /** The user in whose home relative paths start and who owns what is made. */
  user?: string | undefined;
}

/** What can be written. */
export type FileData = string | Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array>;

/** Options of {@link Files.read}. */
export interface ReadOptions extends FileOptions {
  /** The first byte that is read. Default 0. A part that begins behind the end of the file is empty. */
  start?: number | undefined;
  /** The byte before which reading stops, as in `slice`. Default: the end of the file. */
  end?: number | undefined;
}

/** Options of {@link Files.write}. */
export interface WriteOptions extends FileOptions {
  /**
   * Writes beside the file and moves that into its place: readers see the old content or the new, and a failed write leaves the old.
   * A link is replaced, not followed. Default `false`.
   */
  atomic?: boolean | undefined;
  /** Sends the content compressed; what is stored is the same. Ignored below envd 0.5.7. Default `false`. */
  gzip?: boolean | undefined;
  /**
   * Labels to store with the file, in place of those it had; {@link EntryInfo.metadata} has them, keys in lower case. Printable ASCII,
   * keys without spaces, at most 4096 bytes with 9 more for each key.
   */
  metadata?: Record<string, string> | undefined;
}

/** How far a transfer is. */
export interface TransferProgress {
  /** Bytes so far, from 0 up to the size. Never falls. */
  readonly loaded: number;
  /** Bytes in all, where that is known. */
  readonly total?: number | undefined;
}

/** What a transfer tells while it is under way. */
export interface TransferOptions {
  /** Called at the start, at the end and, where that can be known, in between. Not awaited; what it throws or rejects with ends the transfer. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
}

/** Options of {@link Files.upload}. There is no request timeout unless `requestTimeoutMs` is given. */
export interface UploadOptions extends WriteOptions, TransferOptions {}

/** Options of {@link Files.download}. `requestTimeoutMs` is how long the answer may take to begin. */
export interface DownloadOptions extends FileOptions, TransferOptions {}

/** What can be uploaded; a handle is a `FileSystemFileHandle`, of the user's disk or of the origin's private file system. */
export type UploadSource = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | { getFile(): Promise<Blob> };

/** Where a download can go; a handle is a `FileSystemFileHandle`. */
export type DownloadTarget = WritableStream<Uint8Array> | { createWritable(): Promise<WritableStream> };

/** Options of {@link Files.watch}. */
export interface WatchOptions extends FileOptions {
  /** Whether directories below count too. Default `false`. */
  recursive?: boolean | undefined;
  /** Whether events have an {@link WatchEvent.entry}, where something stands at the path. Default `false`. */
  includeEntry?: boolean | undefined;
  /** Whether a directory on a network file system may be watched, where changes by others are not told. Default `false`: refused. */
  allowNetworkMounts?: boolean | undefined;
}

/** A change below a watched directory. */
export interface WatchEvent {
  /**
   * `gap`: the connection was lost and the directory is watched again; what happened meanwhile was not told, so look anew at what you
   * know of it. Its path is that of the watched directory.
   */
  readonly type: "created" | "modified" | "deleted" | "renamed" | "gap";
  /** The absolute path; of a rename, the one that went away (the new one follows as `created`). */
  readonly path: string;
  /** What stands there now, with `includeEntry` and where the server could look. */
  readonly entry?: EntryInfo | undefined;
}

/** The file system of a sandbox. Relative paths start at the user's home. */
export class Files {
  private constructor();
  /**
   * Reads a file.
   * @throws {FileNotFoundError} E4001
   * @throws {InvalidArgumentError} E0001 for a directory, an empty path or one with a NUL
   */
  read(path: string, options: ReadOptions & { format: "bytes" }): Promise<Uint8Array<ArrayBuffer>>;
  read(path: string, options: ReadOptions & { format: "blob" }): Promise<Blob>;
  read(path: string, options: ReadOptions & { format: "stream" }): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** As text, decoded as `encoding` says: any label that `TextDecoder` knows. Default `"utf-8"`. A byte order mark stays in front of it. */
  read(path: string, options?: ReadOptions & { format?: "text"; encoding?: string }): Promise<string>;
  /**
   * Reads a file's bytes.
   * @throws {FileNotFoundError} E4001
   */
  readBytes(path: string, options?: ReadOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Writes a file, replacing what was there and making parent directories. Not atomic unless asked for. In a page, a stream is sent in
   * parts that the sandbox joins (where the platform cannot, or metadata or compression is asked for, it is collected first). When a
   * stream fails, the call rejects with the stream's own error; what was sent before may stay in the file, unless `atomic` is set. Bytes are
   * not copied: leave a buffer as it is until the promise has settled.
   * @throws {PermissionDeniedError} E4002
   * @throws {InvalidArgumentError} E0001 when a directory stands there, and for a locked stream, a chunk that is no `Uint8Array`, a detached
   * buffer or shared memory, a text with a lone surrogate, and a picked file that was changed or deleted on disk since
   */
  write(path: string, data: FileData, options?: WriteOptions): Promise<WriteInfo>;
  /** Writes several files, a few at a time. When one fails no other is begun; those that were written stay. */
  write(files: readonly { path: string; data: FileData }[], options?: WriteOptions): Promise<WriteInfo[]>;
  /**
   * Writes a file and tells how far it is: by XMLHttpRequest in pages, elsewhere by parts of 8 MiB that the sandbox joins; compressed,
   * with metadata, or where neither can be, only at the start and the end.
   * @throws {InvalidArgumentError} E0001 for a string: there are no local paths here
   */
  upload(source: UploadSource, path: string, options?: UploadOptions): Promise<WriteInfo>;
  /**
   * Reads a file into a `Blob`, or without holding it into a target. A stream is closed at the end; when the download fails it is
   * aborted, and a handle's file stays as it was.
   */
  download(path: string, target?: undefined, options?: DownloadOptions): Promise<Blob>;
  download(path: string, target: DownloadTarget, options?: DownloadOptions): Promise<void>;
  /** Reads a file and hands it to the browser's downloads, under its own name. In pages only. */
  download(path: string, target: "save", options?: DownloadOptions): Promise<void>;
  /**
   * Lists a directory. `depth` is how many levels, 1 or more (default 1).
   * @throws {FileNotFoundError} E4001
   * @throws {InvalidArgumentError} E0001 for what is no directory
   */
  list(path?: string, options?: FileOptions & { depth?: number }): Promise<EntryInfo[]>;
  /** Whether something stands at a path. Errors other than "not found" are thrown. */
  exists(path: string, options?: FileOptions): Promise<boolean>;
  /**
   * What stands at a path.
   * @throws {FileNotFoundError} E4001
   */
  getInfo(path: string, options?: FileOptions): Promise<EntryInfo>;
  /**
   * Makes a directory and its parents. `false` when it existed.
   * @throws {InvalidArgumentError} E0001 when something else stands there
   * @throws {PermissionDeniedError} E4002
   */
  makeDir(path: string, options?: FileOptions): Promise<boolean>;
  /**
   * Moves or renames. Never retried.
   * @throws {FileNotFoundError} E4001
   * @throws {FileOperationError} E4000 when a directory stands in the way
   */
  move(source: string, destination: string, options?: FileOptions): Promise<EntryInfo>;
  /** @deprecated The old name of {@link Files.move}. */
  rename(source: string, destination: string, options?: FileOptions): Promise<EntryInfo>;
  /**
   * Deletes a file or a directory with everything in it. A missing path is no error.
   * @throws {PermissionDeniedError} E4002
   * @throws {FileNotFoundError} E4001 for a name with U+FFFD that is not there: names whose bytes are not UTF-8 are listed so, and no
   * call can ask for them. A command can, by a pattern.
   */
  remove(path: string, options?: FileOptions): Promise<void>;
  /**
   * Watches a directory; resolves once the server has confirmed. When the connection is lost it is attached again with growing pauses
   * and a `gap` is told; the loop throws when that is of no use, as when the sandbox was paused or has ended.
   * @throws {FileNotFoundError} E4001
   * @throws {InvalidArgumentError} E0001 for what is no directory
   */
  watch(path: string, options?: WatchOptions): Promise<ChunkStream<WatchEvent>>;
  /** A URL that reads a file; see {@link Sandbox.downloadUrl}. */
  downloadUrl(path: string, options?: FileUrlOptions): string;
  /** A URL that writes a file; see {@link Sandbox.uploadUrl}. */
  uploadUrl(path?: string, options?: FileUrlOptions): string;
  /** An empty object: what it holds is no text. */
  toJSON(): Record<string, never>;
}

/** Options of file URLs. */
export interface FileUrlOptions {
  /** The user in whose home relative paths start. */
  user?: string | undefined;
  /** The signature's life from now, in ms; rounded up to seconds. Default: it does not expire before the token does. */
  expiresInMs?: number | undefined;
}
