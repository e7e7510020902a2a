/** Checking errors. */
import { SandboxError } from "agent-sandbox-web";
import { expect } from "vitest";

type ErrorClass<T extends SandboxError> = abstract new (...args: never[]) => T;

/** Waits for a rejection of that class and checks that it is whole. */
export async function rejected<T extends SandboxError>(
  promise: Promise<unknown>,
  kind: ErrorClass<T>,
  properties: Partial<Record<keyof T, unknown>> = {},
): Promise<T> {
  const error: unknown = await promise.then(
    (value) => {
      throw new Error(`resolved to ${JSON.stringify(value)} instead of rejecting`);
    },
    (reason: unknown) => reason,
  );
  return whole(error, kind, properties);
}

/** Checks an error's class and what every error has. */
export function whole<T extends SandboxError>(
  error: unknown,
  kind: ErrorClass<T>,
  properties: Partial<Record<keyof T, unknown>> = {},
): T {
  expect(error, String(error)).toBeInstanceOf(kind);
  const typed = error as T;
  expect(typed).toBeInstanceOf(SandboxError);
  expect(typed.code).toMatch(/^E\d{4}$/);
  expect(typed.message).not.toBe("");
  expect(typed.suggestion).not.toBe("");
  for (const [name, value] of Object.entries(properties))
    expect(typed[name as keyof T], `${name} of ${typed.message}`).toEqual(value);
  return typed;
}

/** Every item of an async iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
