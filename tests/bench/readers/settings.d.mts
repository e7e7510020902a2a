/** The sandbox that a reader reads from. */
export interface Settings {
  readonly sandboxId: string;
  /** With placeholders: the form that fits where the reader runs. */
  readonly sandboxUrl: string;
  /** The platform's root, for routing by headers. */
  readonly rootUrl: string;
  readonly envdAccessToken: string;
  readonly envdVersion: string;
}

/** Runs a command and hands over its standard output piece by piece. */
export type Reader = (command: string, onText: (text: string) => void) => Promise<void>;

/** What every module in this folder exports. */
export interface ReaderModule {
  open(settings: Settings): Promise<Reader>;
}
