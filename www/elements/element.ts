/** What says of a class, to every copy of this package on the page, that it is one of ours. */
const OURS = Symbol.for("agent-sandbox-web.element");

/**
 * Registers a class as the element `name`. A page may load this package twice, from two addresses or in two bundles, and a name can be given
 * once alone: then the class that was there first stands for both.
 */
export function element(name: string) {
  return <Class extends CustomElementConstructor>(made: Class): Class => {
    const there = customElements.get(name);
    // Of somebody else's the browser says so itself.
    if (there && OURS in there) return there as Class;
    Object.defineProperty(made, OURS, { value: true });
    customElements.define(name, made);
    return made;
  };
}
