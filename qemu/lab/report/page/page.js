// SPDX-License-Identifier: GPL-2.0
// Plots that answer to the pointer.  Without the library, or without scripts, the drawn ones stay.
"use strict";
(() => {
	if (typeof Chart === "undefined")
		return;
	const colour = (name) =>
		getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const plots = JSON.parse(document.getElementById("charts").textContent);
	const live = new Map();

	function axis(title, scale) {
		return {
			type: scale,
			title: { display: Boolean(title), text: title, color: colour("--muted") },
			grid: { color: colour("--grid") },
			ticks: { color: colour("--muted"), maxTicksLimit: 8 },
			beginAtZero: scale === "linear",
		};
	}

	function config(plot) {
		return {
			type: plot.kind,
			data: {
				labels: plot.labels,
				datasets: plot.series.map((series) => ({
					label: series.name,
					data: series.points,
					borderColor: colour(`--c${series.hue % 7}`),
					backgroundColor: series.theirs ? "transparent" : colour(`--c${series.hue % 7}`),
					borderDash: series.theirs ? [5, 4] : [],
					borderWidth: plot.kind === "bar" && !series.theirs ? 0 : 2,
					pointRadius: series.theirs && plot.kind === "scatter" ? 0 : 3,
					showLine: plot.kind === "line" || series.theirs,
					spanGaps: true,
				})),
			},
			options: {
				animation: false,
				maintainAspectRatio: false,
				interaction: { mode: "nearest", axis: "x", intersect: false },
				scales: { x: axis(plot.x, plot.xscale), y: axis(plot.y, plot.yscale) },
				plugins: {
					legend: { position: "bottom", labels: { color: colour("--ink"), boxWidth: 14 } },
				},
			},
		};
	}

	// What is folded has no size: it is drawn when it is unfolded.
	function draw() {
		for (const canvas of document.querySelectorAll("canvas[data-chart]")) {
			const figure = canvas.closest("figure");
			if (live.has(canvas) || figure.closest("details:not([open])"))
				continue;
			canvas.parentElement.hidden = false;
			live.set(canvas, new Chart(canvas, config(plots[canvas.dataset.chart])));
			for (const drawn of figure.querySelectorAll("details.static"))
				drawn.open = false;
		}
	}

	draw();
	for (const folded of document.querySelectorAll("details"))
		folded.addEventListener("toggle", draw);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		for (const chart of live.values())
			chart.destroy();
		live.clear();
		draw();
	});
})();
