// For what no other entry fits: nothing is loaded until `init(source)`.
export * from "./core.js";
