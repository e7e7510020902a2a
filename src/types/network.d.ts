/** Hosts and URLs of the sandbox's ports. Computed here, without a request. */
export class Network {
  private constructor();
  /** The host of a port. On a path platform there is none: {@link InvalidArgumentError} names {@link Network.getUrl}. */
  getHost(port: number): string;
  /**
   * The URL of a port.
   * @throws {InvalidArgumentError} E0001 for what is no port
   */
  getUrl(port: number): string;
  /** The headers that a request to a port needs, if any. */
  getAccessHeaders(): Record<string, string>;
  /** An empty object: what it holds is no text. */
  toJSON(): Record<string, never>;
}
