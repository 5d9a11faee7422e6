// SPDX-License-Identifier: GPL-2.0
"use strict";

// Of a span: its begin and end in ns, and the places of its cause, of whom, and of its stack.
const FIELDS = 5;
const SMALLEST_NS = 1000;
const data = JSON.parse(document.getElementById("data").textContent);
const canvases = [...document.querySelectorAll("canvas")];
const said = document.getElementById("said");
let from = 0, to = data.length_ns;

function spans_of(canvas) {
	return data.sides[canvas.dataset.side][canvas.dataset.lane];
}

// What each column of pixels holds of each cause: parts of 1, of all that the lane can do.
function columns(lane, count) {
	const causes = data.causes.length, held = new Float32Array(count * causes);
	const width = (to - from) / count;
	for (let at = 0; at < lane.spans.length; at += FIELDS) {
		const low = Math.max(0, (lane.spans[at] - from) / width);
		const high = Math.min(count, (lane.spans[at + 1] - from) / width);
		for (let column = Math.floor(low); column < high; column++) {
			const part = Math.min(high, column + 1) - Math.max(low, column);
			held[column * causes + lane.spans[at + 2]] += part / lane.capacity;
		}
	}
	return held;
}

function draw(canvas) {
	const width = canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
	const height = canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
	const held = columns(spans_of(canvas), width), context = canvas.getContext("2d");
	for (let column = 0; column < width; column++) {
		let bottom = 0;
		data.causes.forEach((cause, number) => {
			const part = held[column * data.causes.length + number];
			if (!part)
				return;
			const top = Math.min(1, bottom + part);
			context.fillStyle = cause.colour;
			context.fillRect(column, height * (1 - top), 1, height * (top - bottom));
			bottom = top;
		});
	}
}

function seconds(ns) {
	return `${(ns / 1e9).toFixed(6)} s`;
}

function show(low, high) {
	const length = Math.min(data.length_ns, Math.max(SMALLEST_NS, high - low));
	from = Math.min(Math.max(0, low), data.length_ns - length);
	to = from + length;
	document.getElementById("shown").textContent = `${seconds(from)} to ${seconds(to)}`;
	canvases.forEach(draw);
}

function zoom(factor, at) {
	show(at - (at - from) * factor, at + (to - at) * factor);
}

function time_at(canvas, event) {
	const box = canvas.getBoundingClientRect();
	return from + (event.clientX - box.left) / box.width * (to - from);
}

function describe(canvas, at) {
	const lane = spans_of(canvas);
	for (let i = 0; i < lane.spans.length; i += FIELDS) {
		const [begin, end, cause, whom, stack] = lane.spans.slice(i, i + FIELDS);
		if (begin > at || end <= at)
			continue;
		const of = data.texts[whom] ? ` (${data.texts[whom]})` : "";
		const ms = ((end - begin) / 1e6).toFixed(3);
		said.textContent = `${lane.name}, ${ms} ms from ${seconds(begin)} on: ` +
			`${data.causes[cause].name}${of} ${data.texts[stack]}`;
		return;
	}
	said.textContent = "";
}

for (const canvas of canvases) {
	let held = null;
	canvas.addEventListener("wheel", event => {
		event.preventDefault();
		zoom(event.deltaY < 0 ? 0.8 : 1.25, time_at(canvas, event));
	}, { passive: false });
	canvas.addEventListener("pointerdown", event => {
		held = time_at(canvas, event);
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", event => {
		const at = time_at(canvas, event);
		if (held !== null)
			show(from + held - at, to + held - at);
		describe(canvas, at);
	});
	for (const name of ["pointerup", "pointercancel"])
		canvas.addEventListener(name, () => { held = null; });
}
for (const button of document.querySelectorAll("button[data-zoom]")) {
	const factor = Number(button.dataset.zoom);
	button.addEventListener("click", () => {
		if (factor)
			zoom(factor, (from + to) / 2);
		else
			show(0, data.length_ns);
	});
}
for (const row of document.querySelectorAll("tr[data-from]")) {
	row.addEventListener("click", () => {
		const low = Number(row.dataset.from), high = Number(row.dataset.to);
		show(low - (high - low) / 2, high + (high - low) / 2);
		scrollTo(0, 0);
	});
}
addEventListener("resize", () => show(from, to));
show(from, to);
