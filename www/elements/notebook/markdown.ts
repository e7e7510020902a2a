/**
 * Markdown as elements. Loaded when there is some. The syntax tree is turned into elements one by one and text goes in as text, so that
 * nothing in it can become markup: HTML in it is shown as it is written.
 */

import type { SyntaxNode } from "@lezer/common";
import { GFM, parser } from "@lezer/markdown";
import { openLink } from "../open-link.js";

const markdown = parser.configure(GFM);

const BLOCKS: Readonly<Record<string, string>> = {
  Paragraph: "p",
  Blockquote: "blockquote",
  BulletList: "ul",
  OrderedList: "ol",
  ListItem: "li",
  Table: "table",
  TableHeader: "tr",
  TableRow: "tr",
  ATXHeading1: "h3",
  ATXHeading2: "h4",
  ATXHeading3: "h5",
  ATXHeading4: "h6",
  ATXHeading5: "h6",
  ATXHeading6: "h6",
  SetextHeading1: "h3",
  SetextHeading2: "h4",
  Emphasis: "em",
  StrongEmphasis: "strong",
  Strikethrough: "del",
};

/** Marks that say what the text around them is, and are no text themselves. */
const MARKS =
  /^(HeaderMark|EmphasisMark|StrikethroughMark|QuoteMark|ListMark|CodeMark|CodeInfo|LinkMark|TableDelimiter|HardBreakMark)$/;

/**
 * Draws Markdown.
 * @param formula draws a formula; without it formulas stay as they are written
 */
export function drawMarkdown(
  text: string,
  formula?: (latex: string, into: HTMLElement, display: boolean) => void,
): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const draw = new Drawing(text, formula);
  draw.children(markdown.parse(text).topNode, fragment);
  return fragment;
}

class Drawing {
  constructor(
    private readonly text: string,
    private readonly formula: ((latex: string, into: HTMLElement, display: boolean) => void) | undefined,
  ) {}

  children(node: SyntaxNode, into: Node): void {
    this.between(node, node.from, node.to, into);
  }

  /** What of a node lies between two places. */
  private between(node: SyntaxNode, from: number, to: number, into: Node): void {
    let at = from;
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.from < from || child.to > to) continue;
      this.plain(at, child.from, into);
      this.node(child, into);
      at = child.to;
    }
    this.plain(at, to, into);
  }

  private node(node: SyntaxNode, into: Node): void {
    const { name } = node;
    if (MARKS.test(name)) return;
    const tag = BLOCKS[name];
    if (tag !== undefined) {
      const element = into.appendChild(document.createElement(tag));
      this.children(node, element);
    } else if (name === "TableCell") {
      const cell = into.appendChild(document.createElement(node.parent?.name === "TableHeader" ? "th" : "td"));
      this.children(node, cell);
    } else if (name === "InlineCode") {
      into.appendChild(document.createElement("code")).textContent = this.inside(node);
    } else if (name === "FencedCode" || name === "CodeBlock") {
      const code = node.getChildren("CodeText").map((part) => this.text.slice(part.from, part.to));
      into.appendChild(document.createElement("pre")).textContent = code.join("");
    } else if (name === "HorizontalRule") {
      into.appendChild(document.createElement("hr"));
    } else if (name === "HardBreak") {
      into.appendChild(document.createElement("br"));
    } else if (name === "Link" || name === "Autolink" || name === "URL") {
      this.link(node, into);
    } else if (name === "Image") {
      this.image(node, into);
    } else if (name === "Task") {
      this.task(node, into);
    } else if (name === "Escape") {
      into.appendChild(document.createTextNode(this.text.slice(node.from + 1, node.to)));
    } else {
      // HTML, entities and whatever else: as it is written.
      into.appendChild(document.createTextNode(this.text.slice(node.from, node.to)));
    }
  }

  /** Text between nodes; formulas in it are drawn. */
  private plain(from: number, to: number, into: Node): void {
    const text = this.text.slice(from, to);
    let at = 0;
    for (const match of this.formula ? text.matchAll(/\$\$([^$]+)\$\$|\$(?! )([^$\n]+?)(?<! )\$(?!\d)/g) : []) {
      into.appendChild(document.createTextNode(text.slice(at, match.index)));
      at = match.index + match[0].length;
      const holder = document.createElement("span");
      try {
        this.formula?.(match[1] ?? match[2] ?? "", holder, match[1] !== undefined);
      } catch {
        holder.textContent = match[0];
      }
      into.appendChild(holder);
    }
    if (at < text.length) into.appendChild(document.createTextNode(text.slice(at)));
  }

  private link(node: SyntaxNode, into: Node): void {
    const url = node.name === "URL" ? node : node.getChild("URL");
    const address = url ? this.text.slice(url.from, url.to) : "";
    if (!/^https?:\/\//i.test(address)) {
      // Nowhere that can be gone to from here: an address of another kind, or of a file of the sandbox.
      into.appendChild(document.createTextNode(this.text.slice(node.from, node.to)));
      return;
    }
    const link = document.createElement("a");
    link.href = address;
    link.rel = "noopener noreferrer";
    link.addEventListener("click", (event) => {
      event.preventDefault();
      void openLink(address, link);
    });
    // The words of a link lie between its first two marks; its address comes after.
    const [open, close] = node.getChildren("LinkMark");
    if (node.name === "Link" && open && close) this.between(node, open.to, close.from, link);
    else link.textContent = address;
    into.appendChild(link);
  }

  private image(node: SyntaxNode, into: Node): void {
    const url = node.getChild("URL");
    const address = url ? this.text.slice(url.from, url.to) : "";
    const [, alternative = ""] = /^!\[([^\]]*)\]/.exec(this.text.slice(node.from, node.to)) ?? [];
    // Only images that carry their content: another address would tell its server that this is being read.
    if (!/^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/i.test(address)) {
      into.appendChild(document.createTextNode(`[image${alternative ? `: ${alternative}` : ""}]`));
      return;
    }
    const image = document.createElement("img");
    image.src = address;
    image.alt = alternative;
    into.appendChild(image);
  }

  private task(node: SyntaxNode, into: Node): void {
    const marker = node.getChild("TaskMarker");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.disabled = true;
    box.checked = marker !== null && /x/i.test(this.text.slice(marker.from, marker.to));
    box.setAttribute("aria-label", box.checked ? "Done" : "To do");
    into.appendChild(box);
    this.plain(marker?.to ?? node.from, node.to, into);
  }

  private inside(node: SyntaxNode): string {
    return this.text.slice(node.firstChild?.to ?? node.from, node.lastChild?.from ?? node.to);
  }
}
