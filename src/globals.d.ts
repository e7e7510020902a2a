// The web's own types that the declarations name, for consumers whose `lib` has no DOM and who have no runtime's types either: there they
// are empty. Wherever they exist these declarations merge with them and add nothing.

interface AbortSignal {}
interface Blob {}
interface ReadableStream<R = any> {}
interface Request {}
interface Response {}
interface URL {}
interface WritableStream<W = any> {}

declare namespace WebAssembly {
  interface Module {}
}
