/** Figures of plotly as HTML for the frame of results. */

/**
 * The HTML that draws a figure with the `plotly.min.js` that lies beside the frame's page.
 * @param figure the value of `application/vnd.plotly.v1+json`
 */
export function plotlyHtml(figure: unknown): string {
  // `<` could end the script early.
  const json = JSON.stringify(figure).replaceAll("<", "\\u003c");
  return `<div id="figure" style="height: 450px"></div>
<script src="plotly.min.js"></script>
<script>
const { data, layout, config, frames } = ${json};
if (window.Plotly) {
  Plotly.newPlot("figure", { data, layout: { autosize: true, ...layout }, frames, config: { responsive: true, displaylogo: false, ...config } });
} else {
  figure.style.height = "auto";
  figure.textContent = "This figure needs plotly.min.js beside the page that shows results, where there is none.";
}
</script>`;
}
