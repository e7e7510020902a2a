// The page that embeds this one sends one message: `{html, dark, style}` with a port. From then on the page is that HTML; through the port it
// tells its height (`{height}`, in CSS pixels) and links that were clicked (`{link}`), and hears of another colour scheme (`{dark}`).
(() => {
  const { parent } = window;

  const begin = (event) => {
    const [port] = event.ports;
    // Only the page around this one may fill it, once. Who that can be is said by this page's policy (frame-ancestors).
    if (event.source !== parent || parent === window || !port || typeof event.data?.html !== "string") return;
    window.removeEventListener("message", begin);
    show(event.data, port);
  };

  const show = ({ html, dark, style }, port) => {
    document.open();
    document.write("<!doctype html><meta charset=utf-8>");
    const sheet = document.createElement("style");
    sheet.textContent = String(style ?? "");
    document.head.append(sheet);
    paint(dark);
    // Written, not assigned: scripts are to run, one after the other.
    document.write(html);
    document.close();
    port.onmessage = ({ data }) => paint(data.dark);
    document.addEventListener("click", (event) => follow(event, port), true);
    const root = document.documentElement;
    const tell = () => port.postMessage({ height: Math.ceil(root.getBoundingClientRect().height) });
    new ResizeObserver(tell).observe(root);
    tell();
  };

  const paint = (dark) => {
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
  };

  const follow = (event, port) => {
    const link = event.composedPath().find((node) => node.localName === "a" && node.hasAttribute?.("href"));
    if (!link || link.getAttribute("href").startsWith("#")) return;
    // A frame that led elsewhere would be an unmarked window into another page.
    event.preventDefault();
    port.postMessage({ link: String(link.href?.baseVal ?? link.href) });
  };

  window.addEventListener("message", begin);
  parent.postMessage({ ready: true }, "*");
})();
