// What the entries use of the file system's JavaScript half; the build puts the file itself beside the glue.

/** Gives the class of the file system its methods that write, upload and download. */
export function bindFiles(files: unknown): void;
