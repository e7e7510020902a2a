/** Something for each of some sandboxes, kept in the tab's storage over reloads. */
export class KeptById<T> {
  /** @param key where it is kept */
  constructor(private readonly key: string) {}

  /** What is kept for a sandbox. */
  get(id: string): T | undefined {
    return this.all[id];
  }

  /** Keeps something for a sandbox. */
  set(id: string, value: T): void {
    sessionStorage.setItem(this.key, JSON.stringify({ ...this.all, [id]: value }));
  }

  /** Forgets what is kept for a sandbox. */
  delete(id: string): void {
    const { [id]: _, ...others } = this.all;
    if (Object.keys(others).length > 0) sessionStorage.setItem(this.key, JSON.stringify(others));
    else sessionStorage.removeItem(this.key);
  }

  private get all(): Record<string, T> {
    return JSON.parse(sessionStorage.getItem(this.key) ?? "{}") as Record<string, T>;
  }
}
